import { DeliveryError } from './delivery-error.ts';
import type { HttpAnswer } from './http-exchange.ts';
import { reasonIn, refusedAnswer } from './refused-answer.ts';

/** Splunk's own codes, and what to do about those that a person has to mend. */
const ADVICE: Readonly<Record<number, string>> = {
  1: 'the token is disabled in Splunk',
  2: 'a token is needed: set SHIELDLOG_SINK_TOKEN',
  3: 'SHIELDLOG_SINK_TOKEN is not a token',
  4: 'SHIELDLOG_SINK_TOKEN is not a token that Splunk knows',
  6: 'Splunk could not read the events',
  7: 'the token may not write to the index; see --hec-index',
  10: 'Splunk wants a channel and saw none; something on the way drops X-Splunk-Request-Channel',
  14: 'indexer acknowledgement is disabled for the token',
};

/** Codes that pass by themselves whatever the status: busy, unhealthy, stopping, full. */
const PASSING: ReadonlySet<number> = new Set([8, 9, 18, 19, 20, 23, 26, 27]);

function parsed(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    // Something in between answered; its status says what to do.
    return {};
  }
}

/** The error that a refusal of the collector stands for, told with Splunk's code. */
export function hecRefusal(place: string, answer: HttpAnswer, nowMs: number): DeliveryError {
  const plain = refusedAnswer(place, answer, nowMs);
  const { code } = parsed(answer.body);
  if (typeof code !== 'number') return plain;
  const advice = ADVICE[code] === undefined ? '' : `: ${ADVICE[code]}`;
  const message = `${place} answered ${answer.status}, Splunk's code ${code} "${reasonIn(answer.body)}"${advice}`;
  return new DeliveryError(PASSING.has(code) ? 'unavailable' : plain.code, message, { retryAfterMs: plain.retryAfterMs });
}

/** The acknowledgement to wait for; null where the token has indexer acknowledgement disabled. */
export function ackIdIn(answer: HttpAnswer): number | null {
  const { ackId } = parsed(answer.body);
  const id = typeof ackId === 'string' ? Number(ackId) : ackId;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
}

/** Which of the acknowledgements have come, in the answer to a poll. */
export function acknowledgedIn(answer: HttpAnswer): ReadonlySet<number> {
  const { acks } = parsed(answer.body);
  const entries = typeof acks === 'object' && acks !== null ? Object.entries(acks) : [];
  return new Set(entries.filter(([, done]) => done === true).map(([id]) => Number(id)));
}
