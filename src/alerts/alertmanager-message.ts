import { DAY_MS } from '../../query/durations.ts';
import type { Receiver } from './receiver-file.ts';
import { type AlertMessage, type ReceiverRequest, sentenceText, type ToldAlert } from './told-alerts.ts';

/** Alertmanager resolves by itself what is not told again. What is resolved earlier is told. */
const FIRES_FOR_MS = 7 * DAY_MS;

/** The names that every version of Alertmanager takes. */
function labelName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
}

function alertOf(
  { id, state, group, sentence, link, fromMs, toldAtMs, resolvedAtMs, facts }: ToldAlert,
  rule: AlertMessage['rule'],
  nowMs: number,
) {
  const endsAtMs = state === 'resolved' ? (resolvedAtMs ?? nowMs) : nowMs + FIRES_FOR_MS;
  // The windows of an alert may begin ahead of the clock, and what begins behind its end is refused.
  const startsAtMs = Math.min(fromMs, toldAtMs ?? fromMs, endsAtMs);
  const own = { alertname: rule.name, severity: rule.severity, alert_id: id };
  const others = [...group.map(({ field, value }) => [field, value] as const), ...Object.entries(rule.labels)];
  const counted = typeof facts === 'string' || facts === null ? {} : { count: String(facts.count) };
  return {
    labels: { ...Object.fromEntries(others.map(([name, value]) => [labelName(name), value])), ...own },
    annotations: { summary: sentenceText(sentence), version: rule.version, ...counted },
    startsAt: new Date(startsAtMs).toISOString(),
    endsAt: new Date(endsAtMs).toISOString(),
    ...(link === null ? {} : { generatorURL: link }),
  };
}

/** The message as the one array of `POST /api/v2/alerts`. An alert fires until its `endsAt`, and its id keeps it apart from others. */
export function alertmanagerRequest(
  { rule, alerts }: AlertMessage,
  { token }: Extract<Receiver, { readonly kind: 'alertmanager' }>,
  nowMs: number,
): ReceiverRequest {
  return {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify(alerts.map((alert) => alertOf(alert, rule, nowMs))),
  };
}

/** The path below the address of an Alertmanager. */
export const ALERTMANAGER_PATH = '/api/v2/alerts';
