/**
 * `unavailable`: it may heal by itself, try again. `refused`: it cannot heal without a person. `oversized`: the answer is longer than what
 * was asked for may be. `closed`: the reader of a pipe has gone.
 */
export type DeliveryErrorCode = 'unavailable' | 'refused' | 'oversized' | 'closed';

interface DeliveryErrorOptions {
  readonly cause?: unknown;
  /** How long the other side asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number | null;
}

/** The other side (the feed or a sink) did not do its part; the message is one line that names it and says why. */
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
