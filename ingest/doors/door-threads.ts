import { WorkerPool } from '../../work/worker-pool.ts';
import type { EnvelopeFault, TakenApart } from './envelope.ts';
import { type EnvelopeName, type EnvelopeTask, takeApart } from './take-apart.ts';

/** A larger body is taken apart on a thread: starting and waking one takes as long as this much does here. */
const MAX_BYTES_HERE = 16 * 1024;
export const MAX_DOOR_THREADS = 2;
/** The most that the heap of a thread may take, in MiB: more than twice what the worst envelope needs. Bodies are no part of it. */
export const DOOR_HEAP_MB = 128;

/** Takes the envelopes of doors apart, so that the main thread is never held by a large one. */
export class DoorThreads {
  readonly #pool = new WorkerPool<EnvelopeTask, TakenApart | EnvelopeFault>({
    module: new URL('./take-apart.ts', import.meta.url),
    maxThreads: MAX_DOOR_THREADS,
    heapMb: DOOR_HEAP_MB,
    inline: { fits: ({ body }) => body.length <= MAX_BYTES_HERE, run: takeApart },
  });

  /** The bytes of the body, and a NUL behind it, cannot be used here afterwards. */
  async takeApart(envelope: EnvelopeName, body: Uint8Array<ArrayBuffer>): Promise<TakenApart | EnvelopeFault> {
    const taken = await this.#pool.run({ envelope, body }, [body.buffer]);
    if (taken.kind === 'fault') return taken;
    const { records } = taken;
    // A Buffer comes from a thread as the array that it is.
    return {
      ...taken,
      records: { ...records, bytes: Buffer.from(records.bytes.buffer, records.bytes.byteOffset, records.bytes.length) },
    };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
