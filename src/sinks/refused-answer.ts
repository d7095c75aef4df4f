import { DeliveryError } from './delivery-error.ts';
import type { HttpAnswer } from './http-exchange.ts';
import { retryAfterMs } from './retry-after.ts';

/** Statuses below 500 that pass by themselves: too slow, too early, too many. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

/** It does not know the method, and will not learn it. */
const NOT_IMPLEMENTED = 501;

const LONGEST_REASON = 500;

/** What the body of an answer says, in one line: the `detail` of ProblemDetails, the `text` of Splunk, or its beginning. */
export function reasonIn(body: Buffer): string {
  const text = body.subarray(0, 64 * 1024).toString('utf8');
  let reason = text;
  try {
    const parsed = JSON.parse(text) as { readonly [name: string]: unknown } | null;
    reason = String(parsed?.['detail'] ?? parsed?.['text'] ?? parsed?.['message'] ?? text);
  } catch {
    // Not JSON: shown as it came.
  }
  return reason.replace(/\s+/g, ' ').trim().slice(0, LONGEST_REASON);
}

/** The error that an answer other than the expected one stands for. `place`: the URL as messages show it. */
export function refusedAnswer(place: string, answer: HttpAnswer, nowMs: number): DeliveryError {
  const reason = reasonIn(answer.body);
  const message = `${place} answered ${answer.status}${reason === '' ? '' : `: ${reason}`}`;
  const passing = (answer.status >= 500 && answer.status !== NOT_IMPLEMENTED) || PASSING.has(answer.status);
  if (!passing) return new DeliveryError('refused', message);
  return new DeliveryError('unavailable', message, { retryAfterMs: retryAfterMs(answer.headers['retry-after'], nowMs) });
}
