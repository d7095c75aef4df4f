import { Worker } from 'node:worker_threads';
import { SerialQueue } from '../../../work/serial-queue.ts';
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

function readInThread(text: string, { deadlineMs, memoryMb }: SpecReaderOptions, signal: AbortSignal): Promise<SpecOutcome> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(new URL('./spec-worker.ts', import.meta.url), {
      workerData: text,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const late = setTimeout(
      () => end(() => resolve(refused(`it takes more than ${deadlineMs} ms to read; allowed: a simpler specification`))),
      deadlineMs,
    );
    const abort = (): void => end(() => reject(signal.reason as Error));
    /** Settles only when the thread has ended, so that the next one never runs beside it. */
    const end = (answer: () => void): void => {
      clearTimeout(late);
      signal.removeEventListener('abort', abort);
      worker.terminate().then(answer, reject);
    };
    signal.addEventListener('abort', abort);
    worker.once('message', (outcome: SpecOutcome) => end(() => resolve(outcome)));
    worker.once('error', (error: Error & { readonly code?: string }) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        end(() => resolve(refused(`it takes more than ${memoryMb} MB of memory to read; allowed: a simpler specification`)));
      else end(() => reject(error));
    });
  });
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
