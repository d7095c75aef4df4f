import { type LetterKind, RECORDS_SHARE } from '../../dead-letter-shares.ts';
import type { HeldLetter, LetterQueue, LetterShares } from './letter-shares.ts';

/** Up to so many of the oldest letters of a zone that are stored, behind an id. */
export type OldestLetters = (kind: LetterKind, zoneId: number | null, afterId: string | undefined) => Promise<readonly HeldLetter[]>;

export interface LetterRoomOptions {
  readonly shares: LetterShares;
  readonly quotaBytes: number;
  readonly oldest: OldestLetters;
}

/**
 * Decides which letters of a batch have room. Where the quota is used up, the oldest letters of the zone that holds most give way to those
 * of another one, as in the embedded store (`store/embedded/catalog/dead-letter-table.ts`).
 */
export class LetterRoom {
  readonly #options: LetterRoomOptions;
  readonly #queues: Map<string, LetterQueue>;
  /** Letters of this batch, and records that it left, by zone and kind. They are younger than those that are stored. */
  readonly #own = new Map<string, HeldLetter[]>();
  /** Of these zones and kinds nothing more is stored. */
  readonly #exhausted = new Set<string>();
  /** Stored letters that leave records, or are gone. */
  readonly changed: Set<HeldLetter> = new Set();
  gaveWay = 0;
  droppedRecords = 0;

  constructor(options: LetterRoomOptions) {
    this.#options = options;
    this.#queues = options.shares.queues;
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
    const queue = this.#queues.get(key) ?? { letters: [], afterId: undefined };
    this.#queues.set(key, queue);
    if (queue.letters.length === 0 && !this.#exhausted.has(key)) {
      queue.letters.push(...(await this.#options.oldest(kind, zoneId, queue.afterId)));
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
