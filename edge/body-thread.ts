import { Piscina } from 'piscina';
import type { BodyOrder, BodyVerdict } from './body-verdict.ts';
import { EdgeError } from './edge-error.ts';
import type { JsonSchema } from './operation.ts';

/** Bytes from which on a body is read on a thread: what is smaller holds the main one for some 5 ms. */
export const LARGE_BODY_FROM_BYTES = 256 * 1024;
/** Bytes of the large bodies that are read or wait for it at a time. */
export const MAX_LARGE_BODIES_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 60_000;
/** Of the thread; the costliest body that is allowed takes half. */
const HEAP_MB = 256;
const RETRY_AFTER_S = '1';

/** A body that a thread has held against its operation's schema. */
export class ValidatedBody {
  /** What the thread read in it. */
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** What `read` makes of a body; a thread has done so already where the body is large. */
export function bodyAs<T>(body: unknown, read: (body: unknown) => T): T {
  return body instanceof ValidatedBody ? (body.value as T) : read(body);
}

/**
 * Validates large bodies beside the main thread, one after the other. The thread starts with the first, and ends when there was none for a
 * minute.
 */
export class BodyThread {
  readonly #module: URL;
  readonly #waiting = new Set<(error: Error) => void>();
  #takenBytes = 0;
  #pool: Piscina<BodyOrder, BodyVerdict> | undefined;

  /** The default export of `module` takes a BodyOrder and answers as `validateBody` does. */
  constructor(module: URL) {
    this.#module = module;
  }

  /**
   * The body, and its bytes, whose memory has to be theirs alone and is not to be used any more where it was. Throws EdgeError for what is
   * wrong with it, and 503 where too much waits already. Rejects where the thread ends or cannot start, too; the next body starts another
   * one.
   */
  async validate(operation: number, schema: JsonSchema, bytes: Buffer): Promise<{ readonly body: ValidatedBody; readonly bytes: Buffer }> {
    const { length } = bytes;
    if (this.#takenBytes + length > MAX_LARGE_BODIES_BYTES) {
      throw new EdgeError(503, 'body.busy', 'Too many large bodies are being read; try again later', {
        headers: { 'retry-after': RETRY_AFTER_S },
      });
    }
    this.#takenBytes += length;
    try {
      const verdict = await this.#run({ operation, schema, bytes });
      const { refusal } = verdict;
      if (refusal !== null) throw new EdgeError(refusal.status, refusal.key, refusal.message, refusal.options);
      const { buffer, byteOffset, byteLength } = verdict.bytes;
      return { body: new ValidatedBody(verdict.value), bytes: Buffer.from(buffer, byteOffset, byteLength) };
    } finally {
      this.#takenBytes -= length;
    }
  }

  async close(): Promise<void> {
    await this.#pool?.destroy();
  }

  async #run(order: BodyOrder): Promise<BodyVerdict> {
    this.#pool ??= this.#newPool();
    const { promise, resolve, reject } = Promise.withResolvers<BodyVerdict>();
    this.#waiting.add(reject);
    this.#pool.run(order, { transferList: [order.bytes.buffer as ArrayBuffer] }).then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  #newPool(): Piscina<BodyOrder, BodyVerdict> {
    const pool = new Piscina<BodyOrder, BodyVerdict>({
      filename: this.#module.href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    // A thread that fails before it has an order: Piscina leaves what waits for it waiting.
    pool.on('error', (error: Error) => {
      this.#pool = undefined;
      for (const reject of this.#waiting) reject(error);
      void pool.destroy();
    });
    return pool;
  }
}
