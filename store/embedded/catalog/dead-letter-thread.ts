import { existsSync } from 'node:fs';
import { WorkerPool } from '../../../work/worker-pool.ts';
import type { DeadLetter, DeadLetterSelection, StoredDeadLetter } from '../../dead-letter.ts';
import { QUOTA_USED_UP } from '../../dead-letter-shares.ts';
import type { StoreLogger } from '../../event-store.ts';
import { setFileAside } from '../../set-aside.ts';
import { isDamage } from '../../sqlite-transaction.ts';
import { DeadLetterTable, deadLetterError } from './dead-letter-table.ts';

/** Letters and bytes that go to the thread, or come from it, at a time; a single letter may have more bytes. */
const ORDER_LETTERS = 500;
const ORDER_BYTES = 4 * 1024 * 1024;
/** Letters removed in one transaction; letters that are added meanwhile wait for it. */
const REMOVED_AT_ONCE = 100;

export interface DeadLetterThreadData {
  readonly file: string;
  readonly quotaBytes: number;
}

/** The methods of the table that the thread is asked to call. */
type TableMethod = 'count' | 'add' | 'list' | 'remove' | 'countOlder' | 'removeOlder';

interface DeadLetterTask {
  readonly method: TableMethod;
  readonly values: readonly unknown[];
}

interface DeadLetterAnswer {
  /** What the method returned. */
  readonly result: unknown;
  /** The number of letters from now on. */
  readonly count: number;
  /** Where the damaged file is now, if the task found one and began a new one. */
  readonly setAside?: string;
}

export interface DeadLettersOptions extends DeadLetterThreadData {
  /** Letters are removed after this time. */
  readonly retentionMs: number;
  readonly logger: StoreLogger;
}

/** The dead letters of a store. A thread writes and reads their file, because a commit waits for the disk. */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  readonly #thread: WorkerPool<DeadLetterTask, DeadLetterAnswer, DeadLetterThreadData>;
  readonly #underWay = new Set<Promise<unknown>>();
  #count = 0;
  /** Resolves when removals may go on. */
  #removalsHeld: Promise<void> | undefined;
  /** False after a task failed, because its thread may have ended after the commit. */
  #isCountKnown = true;
  #isClosed = false;

  private constructor(options: DeadLettersOptions) {
    const { file, quotaBytes } = options;
    this.#options = options;
    this.#thread = new WorkerPool<DeadLetterTask, DeadLetterAnswer, DeadLetterThreadData>({
      module: new URL('./dead-letter-thread.ts', import.meta.url),
      data: { file, quotaBytes },
    });
  }

  /** Opens the dead letters. Throws `StoreError` (`folder_unusable`) where their file cannot be used. */
  static async open(options: DeadLettersOptions): Promise<DeadLetters> {
    const letters = new DeadLetters(options);
    try {
      if (existsSync(options.file)) {
        await letters.#run('count');
      }
      return letters;
    } catch (error) {
      await letters.close();
      throw deadLetterError(options.file, error);
    }
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves when the letters are durable, with the indices, ascending, of those whose bytes are not kept: the quota is used up. */
  async add(letters: readonly DeadLetter[], receivedAtMs: number): Promise<number[]> {
    const ids: (number | null)[] = [];
    const gaveWay = new Set<number>();
    let droppedRecords = 0;
    for (const part of partsOf(letters)) {
      const added = await this.#run(
        'add',
        part.map((letter) => ({ ...letter, receivedAtMs })),
      );
      ids.push(...added.ids);
      for (const id of added.gaveWay) {
        gaveWay.add(id);
      }
      droppedRecords += added.droppedRecords;
    }
    // A letter may have given way to a later one of the same list.
    const notKept = ids.flatMap((id, index) => (id === null || gaveWay.has(id) ? [index] : []));
    if (notKept.length > 0 || gaveWay.size > 0) {
      this.#options.logger.warn({ letters: notKept.length, gaveWay: gaveWay.size, droppedRecords }, QUOTA_USED_UP);
    }
    return notKept;
  }

  /** Lists letters by ascending id: fewer than the limit where they are long, none where there are no more. */
  async list(selection: DeadLetterSelection): Promise<readonly StoredDeadLetter[]> {
    return this.#isEmpty ? [] : await this.#run('list', selection, ORDER_BYTES);
  }

  /** Resolves with the number of removed letters, which is at most the limit of the selection. */
  async remove(selection: DeadLetterSelection): Promise<number> {
    return this.#removeInParts(selection.limit, (limit) => this.#run('remove', { ...selection, limit }));
  }

  /**
   * Removes the letters that are older than the retention, unless `isHeld` says of their number, and of that of all, that they stay. Stops
   * after a transaction once `close` was called.
   */
  async removeExpired(nowMs: number, isHeld: (expired: number, all: number) => boolean): Promise<void> {
    const thanMs = nowMs - this.#options.retentionMs;
    const older = this.#isEmpty ? 0 : await this.#run('countOlder', thanMs);
    if (isHeld(older, this.#count) || older === 0) {
      return;
    }
    await this.#removeInParts(Number.POSITIVE_INFINITY, (limit) => this.#run('removeOlder', thanMs, limit));
  }

  /** Keeps all letters until it is disposed: removals wait, but for letters that give way to others. It is held once at a time. */
  async holdRemovals(): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#removalsHeld = promise;
    await Promise.allSettled(this.#underWay);
    return {
      [Symbol.dispose]: () => {
        this.#removalsHeld = undefined;
        resolve();
      },
    };
  }

  /** Waits for the tasks under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    await this.#thread.close();
  }

  get #isEmpty(): boolean {
    return this.#isCountKnown && this.#count === 0;
  }

  async #removeInParts(limit: number, remove: (limit: number) => Promise<number>): Promise<number> {
    for (let removed = 0; ; ) {
      await this.#removalsHeld;
      const part = Math.min(REMOVED_AT_ONCE, limit - removed);
      const gone = this.#isEmpty || this.#isClosed || part === 0 ? 0 : await remove(part);
      removed += gone;
      if (gone < part || part === 0) {
        return removed;
      }
    }
  }

  async #run<Method extends TableMethod>(
    method: Method,
    ...values: Parameters<DeadLetterTable[Method]>
  ): Promise<ReturnType<DeadLetterTable[Method]>> {
    const running = this.#thread.run({ method, values });
    this.#underWay.add(running);
    try {
      const answer = await running;
      this.#count = answer.count;
      this.#isCountKnown = true;
      if (answer.setAside !== undefined) {
        const { logger, file } = this.#options;
        logger.error({ file, setAside: answer.setAside }, 'the file of the dead letters is damaged; it is set aside, and a new one begun');
      }
      return answer.result as ReturnType<DeadLetterTable[Method]>;
    } catch (error) {
      this.#isCountKnown = false;
      throw error;
    } finally {
      this.#underWay.delete(running);
    }
  }
}

/** The work of the thread of `DeadLetters`. A task that finds the file damaged is carried out in a new one. */
export function startWork({ file, quotaBytes }: DeadLetterThreadData): (task: DeadLetterTask) => DeadLetterAnswer {
  let table: DeadLetterTable | undefined;
  const run = ({ method, values }: DeadLetterTask): DeadLetterAnswer => {
    table ??= DeadLetterTable.open(file, quotaBytes);
    return { result: Reflect.apply(table[method], table, values), count: table.count() };
  };
  return (task) => {
    try {
      return run(task);
    } catch (error) {
      if (!isDamage(error)) {
        throw error;
      }
      table?.close();
      table = undefined;
      const setAside = setFileAside(file);
      try {
        return { ...run(task), setAside };
      } catch (failure) {
        throw new Error(`${(failure as Error).message}; the damaged file is ${setAside} now`, { cause: failure });
      }
    }
  };
}

function* partsOf(letters: readonly DeadLetter[]): Generator<readonly DeadLetter[]> {
  for (let start = 0; start < letters.length; ) {
    let [end, bytes] = [start, 0];
    while (end < letters.length && end - start < ORDER_LETTERS && bytes < ORDER_BYTES) {
      bytes += letters[end]?.bytes.length ?? 0;
      end += 1;
    }
    yield letters.slice(start, end);
    start = end;
  }
}
