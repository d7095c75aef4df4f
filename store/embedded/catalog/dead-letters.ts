import { existsSync } from 'node:fs';
import type { DeadLetter, DeadLetterSelection, StoredDeadLetter } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { StoreLogger } from '../../store-logger.ts';
import { BackgroundThread } from '../runtime/background-thread.ts';
import type { AddedDeadLetters, NewDeadLetter } from './dead-letter-table.ts';
import type { LegacyDeadLetters } from './legacy-dead-letters.ts';

/** What goes over to the thread, or comes from it, at a time; one letter may have more. */
const ORDER_LETTERS = 500;
const ORDER_BYTES = 4 * 1024 * 1024;
/** Removed in one transaction; what is added meanwhile waits for it. */
const REMOVED_AT_ONCE = 100;

export interface DeadLetterThreadData {
  readonly file: string;
  readonly quotaBytes: number;
}

export type DeadLetterOrder =
  | { readonly kind: 'count' }
  | { readonly kind: 'add'; readonly letters: readonly NewDeadLetter[] }
  | { readonly kind: 'list'; readonly selection: DeadLetterSelection; readonly maxBytes: number }
  | { readonly kind: 'remove'; readonly selection: DeadLetterSelection }
  | { readonly kind: 'remove-older'; readonly thanMs: number; readonly limit: number };

/** What belongs to the order. */
export interface DeadLetterAnswer {
  readonly count?: number;
  readonly added?: AddedDeadLetters;
  readonly letters?: readonly StoredDeadLetter[];
  readonly removed?: number;
}

export interface DeadLettersOptions extends DeadLetterThreadData {
  /** How long a letter is kept. */
  readonly retentionMs: number;
  readonly logger: StoreLogger;
}

/** The dead letters of a store, in a file of their own that a thread writes and reads, because a commit waits for the disk. */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  readonly #thread: BackgroundThread<DeadLetterOrder, DeadLetterAnswer>;
  readonly #underWay = new Set<Promise<unknown>>();
  #count = 0;
  /** An order that failed may have been carried out: its thread may have ended after the commit. */
  #isCountKnown = true;
  #isClosed = false;

  private constructor(options: DeadLettersOptions) {
    const { file, quotaBytes } = options;
    this.#options = options;
    this.#thread = new BackgroundThread(new URL('./dead-letter-thread.ts', import.meta.url), { file, quotaBytes });
  }

  /** Moves the letters over that an earlier version kept in the catalog. Throws `StoreError`: `corrupt`, `folder_unusable`. */
  static async open(options: DeadLettersOptions, legacy: LegacyDeadLetters): Promise<DeadLetters> {
    const letters = new DeadLetters(options);
    try {
      for (let part = firstOf(legacy); part.length > 0; part = firstOf(legacy)) {
        await letters.#run({ kind: 'add', letters: part });
        legacy.remove(part);
      }
      if (existsSync(options.file)) {
        await letters.#run({ kind: 'count' });
      }
      return letters;
    } catch (error) {
      await letters.close();
      throw asOpenError(options.file, error);
    }
  }

  get count(): number {
    return this.#count;
  }

  /** Durable when it resolves: with the places, among these, of the letters whose bytes are not kept because the quota is used up. */
  async add(letters: readonly DeadLetter[], receivedAtMs: number): Promise<number[]> {
    const notKept: number[] = [];
    let droppedRecords = 0;
    for (const { start, part } of partsOf(letters)) {
      const { added } = await this.#run({ kind: 'add', letters: part.map((letter) => ({ ...letter, receivedAtMs })) });
      notKept.push(...(added?.notKept ?? []).map((place) => start + place));
      droppedRecords += added?.droppedRecords ?? 0;
    }
    if (notKept.length > 0) {
      const what =
        'dead letters are not kept, because the letters that are there use up DEAD_LETTER_MAX_MB; replay or discard some, or raise it';
      this.#options.logger.warn({ letters: notKept.length, droppedRecords }, what);
    }
    return notKept;
  }

  /** By ascending id; fewer than the limit where they are long. None where there are no more. */
  async list(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]> {
    return this.#isEmpty ? [] : ((await this.#run({ kind: 'list', selection, maxBytes: ORDER_BYTES })).letters ?? []);
  }

  /** Resolves with the number of those removed, up to the limit of the selection. */
  async remove(selection: DeadLetterSelection): Promise<number> {
    return this.#removeInParts(selection.limit, (limit) => ({ kind: 'remove', selection: { ...selection, limit } }));
  }

  /** Removes the letters whose time is over; stops between some of them and the next once they are closed. */
  async removeExpired(nowMs: number): Promise<void> {
    const thanMs = nowMs - this.#options.retentionMs;
    await this.#removeInParts(Number.POSITIVE_INFINITY, (limit) => ({ kind: 'remove-older', thanMs, limit }));
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    await this.#thread.close();
  }

  get #isEmpty(): boolean {
    return this.#isCountKnown && this.#count === 0;
  }

  async #removeInParts(limit: number, orderFor: (limit: number) => DeadLetterOrder): Promise<number> {
    for (let removed = 0; ; ) {
      const part = Math.min(REMOVED_AT_ONCE, limit - removed);
      const gone = this.#isEmpty || this.#isClosed || part === 0 ? 0 : ((await this.#run(orderFor(part))).removed ?? 0);
      removed += gone;
      if (gone < part || part === 0) {
        return removed;
      }
    }
  }

  async #run(order: DeadLetterOrder): Promise<DeadLetterAnswer> {
    const running = this.#thread.run(order);
    this.#underWay.add(running);
    try {
      const answer = await running;
      this.#count = answer.count ?? this.#count;
      this.#isCountKnown ||= answer.count !== undefined;
      return answer;
    } catch (error) {
      this.#isCountKnown = false;
      throw error;
    } finally {
      this.#underWay.delete(running);
    }
  }
}

const firstOf = (legacy: LegacyDeadLetters) => legacy.first(ORDER_LETTERS, ORDER_BYTES);

/** Of an error that came from the thread only its message is left. */
function asOpenError(file: string, error: unknown): StoreError {
  const { message } = error as Error;
  const isDamaged = /not a database|malformed/.test(message);
  const advice = isDamaged ? '; move it away to start without them' : '';
  const what = `DATA_DIR: the dead letters in ${JSON.stringify(file)} cannot be opened: ${message}${advice}`;
  return new StoreError(isDamaged ? 'corrupt' : 'folder_unusable', what, { cause: error });
}

function* partsOf(letters: readonly DeadLetter[]): Generator<{ readonly start: number; readonly part: readonly DeadLetter[] }> {
  for (let start = 0; start < letters.length; ) {
    let [end, bytes] = [start, 0];
    while (end < letters.length && end - start < ORDER_LETTERS && bytes < ORDER_BYTES) {
      bytes += letters[end]?.bytes.length ?? 0;
      end += 1;
    }
    yield { start, part: letters.slice(start, end) };
    start = end;
  }
}
