import { move, transferableSymbol, valueSymbol } from 'piscina';
import { WorkerPool } from '../work/worker-pool.ts';
import { EdgeError, type EdgeErrorOptions } from './edge-error.ts';
import { invalidInput, parseJsonBody, validatorOf } from './input-validation.ts';
import type { JsonSchema } from './operations/json-schema.ts';

/** A body for the thread to validate. Its bytes are moved there and come back with the outcome. */
export interface BodyTask {
  /** The name of the operation. */
  readonly operation: string;
  readonly schema: JsonSchema;
  readonly bytes: Uint8Array;
}

/** The parts of an EdgeError, for the way between threads. */
interface BodyRefusal {
  readonly status: number;
  readonly key: string;
  readonly message: string;
  readonly options: Pick<EdgeErrorOptions, 'field' | 'errors'>;
}

interface BodyOutcome {
  readonly bytes: Uint8Array;
  readonly refusal: BodyRefusal | null;
  /** The result of `read` for an accepted body. */
  readonly value: unknown;
}

/** Picks what the main thread needs of a body, small enough to be handed over. Throws EdgeError. */
type BodyRead = (operation: string, body: unknown) => unknown;

function refusalOf({ status, key, message, field, errors }: EdgeError): BodyRefusal {
  return { status, key, message, options: { ...(field === undefined ? {} : { field }), ...(errors === undefined ? {} : { errors }) } };
}

function outcomeOf({ operation, schema, bytes }: BodyTask, read: BodyRead): BodyOutcome {
  try {
    const body = parseJsonBody(bytes);
    const failures = validatorOf(schema)(body);
    if (failures !== null) throw invalidInput(failures, 'body');
    return { bytes, refusal: null, value: read(operation, body) };
  } catch (error) {
    if (error instanceof EdgeError) return { bytes, refusal: refusalOf(error), value: null };
    throw error;
  }
}

/** Answers a task on the thread. The bytes are handed back without a copy. */
export function validateBody(task: BodyTask, read: BodyRead): unknown {
  const outcome = outcomeOf(task, read);
  return move({ [transferableSymbol]: [task.bytes.buffer], [valueSymbol]: outcome } as never);
}

/** Bodies of so many bytes or more are read on the thread. Smaller ones hold the main thread for some 5 ms. */
export const LARGE_BODY_FROM_BYTES = 256 * 1024;
/** Bytes of all large bodies that are read or wait for it. */
export const MAX_LARGE_BODIES_BYTES = 64 * 1024 * 1024;
/** The heap of the thread. The costliest allowed body takes half of it. */
const HEAP_MB = 256;
const RETRY_AFTER_S = '1';

/** A body that the thread has validated against its operation's schema. */
export class ValidatedBody {
  /** The body as the thread has parsed it. */
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Reads a body, unless the thread has done so because it is large. */
export function bodyAs<T>(body: unknown, read: (body: unknown) => T): T {
  return body instanceof ValidatedBody ? (body.value as T) : read(body);
}

/** Validates large bodies beside the main thread, one after the other. */
export class BodyThread {
  readonly #pool: WorkerPool<BodyTask, BodyOutcome>;
  #takenBytes = 0;

  /** What `startWork` of the module returns takes a BodyTask and calls `validateBody`. */
  constructor(module: URL) {
    this.#pool = new WorkerPool({ module, heapMb: HEAP_MB });
  }

  /**
   * Validates a body and returns it with its bytes. The memory of `bytes` must not be shared or used afterwards, because it is moved to the
   * thread. Throws EdgeError for a wrong body, and 503 where too many bytes wait already. Rejects where the thread ends or cannot start;
   * the next body starts another one.
   */
  async validate(operation: string, schema: JsonSchema, bytes: Buffer): Promise<{ readonly body: ValidatedBody; readonly bytes: Buffer }> {
    const { length } = bytes;
    if (this.#takenBytes + length > MAX_LARGE_BODIES_BYTES) {
      throw new EdgeError(503, 'body.busy', 'Too many large bodies are being read; try again later', {
        headers: { 'retry-after': RETRY_AFTER_S },
      });
    }
    this.#takenBytes += length;
    try {
      const outcome = await this.#pool.run({ operation, schema, bytes }, [bytes.buffer as ArrayBuffer]);
      const { refusal } = outcome;
      if (refusal !== null) throw new EdgeError(refusal.status, refusal.key, refusal.message, refusal.options);
      const { buffer, byteOffset, byteLength } = outcome.bytes;
      return { body: new ValidatedBody(outcome.value), bytes: Buffer.from(buffer, byteOffset, byteLength) };
    } finally {
      this.#takenBytes -= length;
    }
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
