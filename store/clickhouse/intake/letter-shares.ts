import { letterSharesStatement } from '../../../sql/clickhouse/dead-letter-statements.ts';
import { canSpare, type LetterKind } from '../../dead-letter-shares.ts';
import type { ClickhouseClient } from '../server/client.ts';

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

/** The letters of a zone of one kind that give way next. */
export interface LetterQueue {
  readonly letters: HeldLetter[];
  afterId: string | undefined;
}

/** What a program adds to what a zone holds, or takes from it. */
interface ShareChange {
  readonly kind: LetterKind;
  /** null: the letters without a zone, which count as those of one. */
  readonly zoneId: number | null;
  readonly bytes: number;
  readonly letters: number;
}

interface LetterSharesOptions {
  readonly client: Pick<ClickhouseClient, 'read'>;
  /** They are read no more often. */
  readonly everyMs: number;
}

/**
 * Who holds how much of the quota of the dead letters. It is read now and then, because that reads all letters. Between two reads the
 * program knows its own changes, and none of others.
 */
export class LetterShares {
  readonly #options: LetterSharesOptions;
  readonly #held: Readonly<Record<LetterKind, Map<number | null, number>>> = { letters: new Map(), records: new Map() };
  readonly #bytes: Record<LetterKind, number> = { letters: 0, records: 0 };
  #count = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #queues = new Map<string, LetterQueue>();
  /** The changes that a read which is under way may miss. */
  #changes: ShareChange[] = [];
  #isChanging = false;

  constructor(options: LetterSharesOptions) {
    this.#options = options;
  }

  /** How many letters there are. */
  get count(): number {
    return this.#count;
  }

  /** Who gives way next, by zone and kind: others after each read, because other programs remove letters, too. */
  get queues(): Map<string, LetterQueue> {
    return this.#queues;
  }

  bytesOf(kind: LetterKind): number {
    return this.#bytes[kind];
  }

  /** Returns whether zones that hold more than this one give way by so many bytes before they hold no more than it. */
  canSpare(bytes: number, zoneId: number | null): boolean {
    return canSpare(bytes, this.#held.letters.get(zoneId) ?? 0, this.#held.letters.values());
  }

  /** The zone that holds most; undefined where none holds any. */
  largest(kind: LetterKind): number | null | undefined {
    let [most, largest]: [number, number | null | undefined] = [0, undefined];
    for (const [zoneId, bytes] of this.#held[kind]) {
      if (bytes > most) {
        [most, largest] = [bytes, zoneId];
      }
    }
    return largest;
  }

  change(change: ShareChange): void {
    if (this.#isChanging || this.#reading !== undefined) {
      this.#changes.push(change);
    }
    this.#apply(change);
  }

  /** A zone, or each where none is named, holds nothing any more. */
  clear(kind: LetterKind, zoneId?: number | null): void {
    for (const zone of zoneId === undefined ? [...this.#held[kind].keys()] : [zoneId]) {
      this.change({ kind, zoneId: zone, bytes: -(this.#held[kind].get(zone) ?? 0), letters: 0 });
    }
  }

  /**
   * Makes changes and stores them. Waits for what is held only where that is not known, and has it read beside the work where it is old.
   * Where the work rejects, it is not known any more.
   */
  async changing<T>(work: () => Promise<T>): Promise<T> {
    if (this.#readAtMs === Number.NEGATIVE_INFINITY) {
      await this.upToDate();
    }
    if (this.#reading === undefined) {
      this.#changes = [];
    }
    this.#isChanging = true;
    if (this.#isOld()) {
      // A failure is met by whoever waits for the next read.
      this.upToDate().catch(() => this.#forget());
    }
    try {
      return await work();
    } catch (error) {
      this.#forget();
      throw error;
    } finally {
      this.#isChanging = false;
    }
  }

  /** Resolves once what is held is known as of the last read that may be made. */
  async upToDate(): Promise<void> {
    if (this.#isOld()) {
      this.#reading ??= this.#read();
    }
    await this.#reading;
  }

  #isOld(): boolean {
    return performance.now() - this.#readAtMs >= this.#options.everyMs;
  }

  #forget(): void {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  async #read(): Promise<void> {
    if (!this.#isChanging) {
      this.#changes = [];
    }
    const begunAtMs = performance.now();
    try {
      const { rows } = await this.#options.client.read(letterSharesStatement());
      for (const kind of ['letters', 'records'] as const) {
        this.#held[kind].clear();
        this.#bytes[kind] = 0;
      }
      this.#count = 0;
      for (const [zone, isRecordOnly, letters, bytes] of rows) {
        const kind = isRecordOnly === true ? 'records' : 'letters';
        this.#apply({ kind, zoneId: zone === null ? null : Number(zone), bytes: Number(bytes), letters: Number(letters) });
      }
      for (const change of this.#changes) {
        this.#apply(change);
      }
      this.#readAtMs = begunAtMs;
      this.#queues = new Map();
    } finally {
      this.#reading = undefined;
    }
  }

  #apply({ kind, zoneId, bytes, letters }: ShareChange): void {
    const before = this.#held[kind].get(zoneId) ?? 0;
    const after = Math.max(0, before + bytes);
    this.#held[kind].set(zoneId, after);
    this.#bytes[kind] += after - before;
    this.#count = Math.max(0, this.#count + letters);
  }
}
