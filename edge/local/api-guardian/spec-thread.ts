import { abortable } from '../../../work/abortable.ts';
import { SerialQueue } from '../../../work/serial-queue.ts';
import { ThreadEnded, WorkerPool } from '../../../work/worker-pool.ts';
import type { ReadSpec } from './read-spec.ts';
import type { SpecFieldError } from './spec-tree.ts';

export type SpecOutcome =
  | { readonly kind: 'accepted'; readonly spec: ReadSpec }
  | { readonly kind: 'refused'; readonly errors: readonly SpecFieldError[] };

export interface SpecReaderOptions {
  /** For one specification, including the start of the thread. */
  readonly deadlineMs: number;
  /** The thread's memory limit. */
  readonly memoryMb: number;
  /** Further specifications may wait for the current one. */
  readonly maxWaiting: number;
}

/** Reads specifications on a thread, one at a time, so that none takes the program's time or memory. */
export interface SpecReader {
  /** Null where too many are waiting. Only defects reject. */
  read(text: string): Promise<SpecOutcome> | null;
  /** Ends the current reading and those that wait. They reject. */
  stop(): Promise<void>;
}

const refused = (message: string): SpecOutcome => ({ kind: 'refused', errors: [{ field: 'content', message }] });

/** Settles only when the thread has ended, so that the next one never runs beside it. */
async function readInThread(text: string, { deadlineMs, memoryMb }: SpecReaderOptions, stopping: AbortSignal): Promise<SpecOutcome> {
  const late = AbortSignal.timeout(deadlineMs);
  const pool = new WorkerPool<string, SpecOutcome>({ module: new URL('./spec-worker.ts', import.meta.url), heapMb: memoryMb });
  try {
    stopping.throwIfAborted();
    return await abortable(pool.run(text), AbortSignal.any([stopping, late]));
  } catch (error) {
    stopping.throwIfAborted();
    if (late.aborted) return refused(`it takes more than ${deadlineMs} ms to read; allowed: a simpler specification`);
    if (error instanceof ThreadEnded && (error.cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      return refused(`it takes more than ${memoryMb} MB of memory to read; allowed: a simpler specification`);
    throw error;
  } finally {
    await pool.close();
  }
}

export function createSpecReader(options: SpecReaderOptions): SpecReader {
  const stopping = new AbortController();
  const readings = new SerialQueue();
  let waiting = 0;
  return {
    read(text) {
      if (waiting > options.maxWaiting) return null;
      waiting += 1;
      const reading = readings.run(() => readInThread(text, options, stopping.signal));
      return reading.finally(() => {
        waiting -= 1;
      });
    },
    stop() {
      stopping.abort(new Error('The program is stopping'));
      return readings.idle();
    },
  };
}
