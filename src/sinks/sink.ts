import { NEWLINE } from '../../query/json-bytes.ts';
/** The events of one answer of the feed, in its order. */
export interface FeedBatch {
  /** Newline-terminated lines, back to back, as the feed wrote them. */
  readonly bytes: Buffer;
  /** The number of lines; at least 1. */
  readonly count: number;
}

/** The progress of a sink as JSON, which is stored beside the cursor; null for a sink that needs none. */
export type SinkPosition = Readonly<Record<string, unknown>> | null;

/** Stores a position durably beside the cursor of the last accepted batch. A restart begins with both. */
export type RecordPosition = (position: SinkPosition) => Promise<void>;

/** An event that the receiver refused, as a line without its end. */
export interface RefusedEvent {
  readonly line: Buffer;
  readonly reason: string;
}

/** What became of a batch. */
export interface Delivery {
  /** The sink's position after the batch. */
  readonly position: SinkPosition;
  /** The events that were not delivered and are to be set aside. */
  readonly refused: readonly RefusedEvent[];
  /** Delivered events that the receiver does not keep, because they are past its retention. */
  readonly expired: number;
}

/** The delivery of a whole batch. */
export function deliveredWhole(position: SinkPosition): Delivery {
  return { position, refused: [], expired: 0 };
}

/** What a sink that reads answers takes for success. */
export interface AnswerReading {
  /** Whether any 2xx is one, whatever its body says. */
  readonly acceptAny: boolean;
  /** Whether events that the receiver refuses and names are set aside, and the others are delivered. Otherwise the delivery is refused. */
  readonly setsAside: boolean;
}

/** A destination of events. It takes one batch at a time. */
export interface Sink {
  /** The name in messages, without secrets. */
  readonly name: string;
  /**
   * Resolves once the batch is accepted, but for the events that are to be set aside. Throws DeliveryError; a batch that was not accepted
   * may have arrived in part, and may be delivered again. An aborted signal ends the delivery, which then rejects with the signal's reason.
   */
  deliver(batch: FeedBatch, signal: AbortSignal): Promise<Delivery>;
  close(): Promise<void>;
}

/**
 * `unavailable`: a retry may succeed. `refused`: a person has to change something. `oversized`: the answer is longer than the limit.
 * `closed`: the reader of a pipe has gone.
 */
export type DeliveryErrorCode = 'unavailable' | 'refused' | 'oversized' | 'closed';

interface DeliveryErrorOptions {
  readonly cause?: unknown;
  /** The pause that the other side asks for, in milliseconds. */
  readonly retryAfterMs?: number | null;
}

/** The feed or a sink failed. The message is one line that names it and the reason. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly code: DeliveryErrorCode;
  readonly retryAfterMs: number | null;

  constructor(code: DeliveryErrorCode, message: string, options: DeliveryErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The lines of newline-terminated text, without their newlines. */
export function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let begin = 0; begin < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, begin);
    const end = newline < 0 ? bytes.length : newline;
    yield bytes.subarray(begin, end);
    begin = end + 1;
  }
}
