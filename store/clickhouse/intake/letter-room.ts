import { type LetterKind, RECORDS_SHARE } from '../../dead-letter-shares.ts';
import type { LetterShares } from './letter-shares.ts';

/** A letter that takes room, or may. */
export interface HeldLetter {
  readonly zoneId: number | null;
  /** The bytes of the quota that it takes without those of its message, and with them. */
  readonly recordCost: number;
  readonly cost: number;
  /** A letter from Kafka that gives way leaves a record. */
  readonly isFromKafka: boolean;
  /** Where it is stored; null for one that is on its way into the table. */
  readonly stored: { readonly id: string; readonly identity: string } | null;
  standing: LetterKind | 'gone';
}

/** Up to so many of the oldest letters of a zone that are stored, behind an id. */
export type OldestLetters = (kind: LetterKind, zoneId: number | null, afterId: string | undefined) => Promise<readonly HeldLetter[]>;

/** The letters of a zone of one kind that give way next. */
interface Queue {
  readonly letters: HeldLetter[];
  afterId: string | undefined;
}

/**
 * Decides who has room. Where the quota is used up, the oldest letters of the zone that holds most give way to those of another one, as in
 * the embedded store (`store/embedded/catalog/dead-letter-table.ts`).
 */
export class LetterRoom {
  readonly #shares: LetterShares;
  readonly #quotaBytes: number;
  readonly #oldest: OldestLetters;
  #queues = new Map<string, Queue>();
  /** The version of the shares that the queues belong to. */
  #version = -1;

  constructor(shares: LetterShares, quotaBytes: number, oldest: OldestLetters) {
    this.#shares = shares;
    this.#quotaBytes = quotaBytes;
    this.#oldest = oldest;
  }

  /** Begins with the letters of a batch. Queues last as long as the shares that were read, because other programs change both. */
  batch(): RoomOfBatch {
    if (this.#version !== this.#shares.version) {
      this.#version = this.#shares.version;
      this.#queues = new Map();
    }
    return new RoomOfBatch({ shares: this.#shares, quotaBytes: this.#quotaBytes, oldest: this.#oldest, queues: this.#queues });
  }
}

interface RoomOptions {
  readonly shares: LetterShares;
  readonly quotaBytes: number;
  readonly oldest: OldestLetters;
  readonly queues: Map<string, Queue>;
}

/** The room of the letters of one batch, and who gave way to them. */
class RoomOfBatch {
  readonly #options: RoomOptions;
  /** Letters of this batch, and records that it left, by zone and kind. They are younger than those that are stored. */
  readonly #own = new Map<string, HeldLetter[]>();
  /** Of these zones and kinds nothing more is stored. */
  readonly #exhausted = new Set<string>();
  /** Stored letters that leave records, or are gone. */
  readonly changed: Set<HeldLetter> = new Set();
  gaveWay = 0;
  droppedRecords = 0;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Adds a letter with its bytes if there is room, else, of one from Kafka, a record. */
  async add(letter: HeldLetter): Promise<void> {
    const { shares } = this.#options;
    if (await this.#makeRoom(letter)) {
      this.#hold(letter, 'letters');
      shares.change({ kind: 'letters', zoneId: letter.zoneId, bytes: letter.cost, letters: 1 });
    } else if (letter.isFromKafka) {
      await this.#leaveRecord(letter, 1);
    } else {
      letter.standing = 'gone';
    }
  }

  /** None gives way unless that is enough. */
  async #makeRoom({ cost, zoneId }: HeldLetter): Promise<boolean> {
    const { shares, quotaBytes } = this.#options;
    const lacking = shares.bytesOf('letters') + cost - quotaBytes;
    if (lacking > 0 && !shares.canSpare(lacking, zoneId)) {
      return false;
    }
    while (shares.bytesOf('letters') + cost > quotaBytes) {
      const letter = await this.#takeOldest('letters');
      if (letter === undefined) {
        continue;
      }
      this.gaveWay += 1;
      shares.change({ kind: 'letters', zoneId: letter.zoneId, bytes: -letter.cost, letters: -1 });
      if (letter.isFromKafka) {
        await this.#leaveRecord(letter, 1);
      } else {
        this.#remove(letter);
      }
    }
    return true;
  }

  async #leaveRecord(letter: HeldLetter, letters: number): Promise<void> {
    const { shares, quotaBytes } = this.#options;
    while (shares.bytesOf('records') > 0 && shares.bytesOf('records') + letter.recordCost > quotaBytes * RECORDS_SHARE) {
      const record = await this.#takeOldest('records');
      if (record !== undefined) {
        this.droppedRecords += 1;
        shares.change({ kind: 'records', zoneId: record.zoneId, bytes: -record.recordCost, letters: -1 });
        this.#remove(record);
      }
    }
    this.#hold(letter, 'records');
    shares.change({ kind: 'records', zoneId: letter.zoneId, bytes: letter.recordCost, letters });
  }

  #hold(letter: HeldLetter, kind: LetterKind): void {
    letter.standing = kind;
    const key = keyOf(kind, letter.zoneId);
    const own = this.#own.get(key) ?? [];
    own.push(letter);
    this.#own.set(key, own);
    if (letter.stored !== null) {
      this.changed.add(letter);
    }
  }

  #remove(letter: HeldLetter): void {
    letter.standing = 'gone';
    if (letter.stored !== null) {
      this.changed.add(letter);
    }
  }

  /** The oldest of the zone that holds most; undefined where that holds nothing, because other programs have removed it. */
  async #takeOldest(kind: LetterKind): Promise<HeldLetter | undefined> {
    const { shares } = this.#options;
    const zoneId = shares.largest(kind);
    if (zoneId === undefined) {
      throw new Error(`the shares of the dead letters lack ${shares.bytesOf(kind)} bytes of ${kind}`);
    }
    const key = keyOf(kind, zoneId);
    const letter = (await this.#takeStored(kind, zoneId, key)) ?? this.#own.get(key)?.shift();
    if (letter === undefined) {
      shares.clear(kind, zoneId);
    }
    return letter;
  }

  async #takeStored(kind: LetterKind, zoneId: number | null, key: string): Promise<HeldLetter | undefined> {
    const { oldest, queues } = this.#options;
    const queue = queues.get(key) ?? { letters: [], afterId: undefined };
    queues.set(key, queue);
    if (queue.letters.length === 0 && !this.#exhausted.has(key)) {
      queue.letters.push(...(await oldest(kind, zoneId, queue.afterId)));
      queue.afterId = queue.letters.at(-1)?.stored?.id ?? queue.afterId;
    }
    const letter = queue.letters.shift();
    if (letter === undefined) {
      this.#exhausted.add(key);
    }
    return letter;
  }
}

function keyOf(kind: LetterKind, zoneId: number | null): string {
  return `${kind} ${zoneId}`;
}
