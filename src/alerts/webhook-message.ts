import { createHmac } from 'node:crypto';
import type { Receiver } from './receiver-file.ts';
import { type AlertFacts, type AlertMessage, type ReceiverRequest, sentenceText, type ToldAlert } from './told-alerts.ts';

/** Has the time of a message and its HMAC-SHA-256. */
const SIGNATURE_HEADER = 'shieldlog-signature';

const timeText = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

function factsJson({ count, times, top, different }: AlertFacts): object {
  const between = times === null ? {} : { first: timeText(times.firstMs), last: timeText(times.lastMs) };
  return { count, ...between, top, different };
}

/** An alert as JSON has it. */
export function alertJson({ facts, ...alert }: ToldAlert, { severity, labels }: AlertMessage['rule']): object {
  const known = facts === null ? {} : typeof facts === 'string' ? { withoutFacts: facts } : factsJson(facts);
  return {
    id: alert.id,
    state: alert.state,
    severity,
    labels,
    sentence: sentenceText(alert.sentence),
    group: Object.fromEntries(alert.group.map(({ field, value }) => [field, value])),
    from: timeText(alert.fromMs),
    to: timeText(alert.toMs),
    hits: alert.hits,
    toldAt: timeText(alert.toldAtMs),
    resolvedAt: timeText(alert.resolvedAtMs),
    earlyEnd: alert.earlyEnd,
    bounded: alert.isBounded,
    link: alert.link,
    ...known,
  };
}

/** The message as JSON. With a secret, the header has the time in seconds and the HMAC-SHA-256 of `TIME.BODY` in hex: `t=TIME,v1=HMAC`. */
export function webhookRequest(
  { rule, alerts, more }: AlertMessage,
  { signingSecret, token }: Extract<Receiver, { readonly kind: 'webhook' }>,
  nowMs: number,
): ReceiverRequest {
  const body = JSON.stringify({ rule: rule.name, version: rule.version, alerts: alerts.map((alert) => alertJson(alert, rule)), more });
  const seconds = Math.floor(nowMs / 1_000);
  const hmac = (secret: string): string => createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return {
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(signingSecret === null ? {} : { [SIGNATURE_HEADER]: `t=${seconds},v1=${hmac(signingSecret)}` }),
    },
    body,
  };
}
