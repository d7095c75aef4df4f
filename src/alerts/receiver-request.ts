import { createHmac } from 'node:crypto';
import type { ToldRule } from '../../alerts/evaluation/outbox.ts';
import { DAY_MS } from '../../query/durations.ts';
import { PRODUCT } from '../formats/product.ts';
import type { Receiver } from './receiver-file.ts';
import { slackMessage } from './slack-message.ts';
import { type AlertMessage, alertJson, isoTime, type ToldAlert } from './told-alerts.ts';

/** The request of a message to a receiver, in JSON; for PagerDuty the message has one alert. */
export function receiverRequest(message: AlertMessage, receiver: Receiver, nowMs: number) {
  const { kind, url, token, signingSecret } = receiver;
  const body = JSON.stringify(bodyOf(message, receiver, nowMs));
  const headers: Readonly<Record<string, string>> = {
    'content-type': 'application/json',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(signingSecret === null ? {} : { 'shieldlog-signature': signature(body, signingSecret, nowMs) }),
  };
  const ofAlertmanager = `${url.pathname.replace(/\/$/, '')}/api/v2/alerts${url.search}`;
  return { url: kind === 'alertmanager' ? new URL(ofAlertmanager, url) : url, headers, body };
}

/** The time in seconds, and the HMAC-SHA-256 of `TIME.BODY` in hex: `t=TIME,v1=HMAC`. */
function signature(body: string, secret: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

function bodyOf(message: AlertMessage, { kind, routingKey }: Receiver, nowMs: number): object {
  const { rule, alerts, more } = message;
  switch (kind) {
    case 'webhook':
      return { rule: rule.name, version: rule.version, alerts: alerts.map((alert) => alertJson(alert, rule)), more };
    case 'slack':
      return slackMessage(message);
    case 'alertmanager':
      return alerts.map((alert) => alertmanagerAlert(alert, rule, nowMs));
    case 'pagerduty':
      return { routing_key: routingKey, ...pagerdutyEvent(alerts, rule) };
  }
}

/** Alertmanager resolves by itself what is not told again. What is resolved earlier is told. */
const FIRES_FOR_MS = 7 * DAY_MS;

/** One of the array of `POST /api/v2/alerts`. An alert fires until its `endsAt`, and its id keeps it apart from others. */
function alertmanagerAlert(alert: ToldAlert, { name, version, severity, labels }: ToldRule, nowMs: number): object {
  const { id, state, group, sentence, link, fromMs, toldAtMs, resolvedAtMs, facts } = alert;
  const endsAtMs = state === 'resolved' ? (resolvedAtMs ?? nowMs) : nowMs + FIRES_FOR_MS;
  // The windows of an alert may begin ahead of the clock, and what begins behind its end is refused.
  const startsAtMs = Math.min(fromMs, toldAtMs ?? fromMs, endsAtMs);
  const counted = typeof facts === 'string' || facts === null ? {} : { count: String(facts.count) };
  return {
    labels: {
      ...Object.fromEntries([...group, ...Object.entries(labels)].map(([label, value]) => [labelName(label), value])),
      alertname: name,
      severity,
      alert_id: id,
    },
    annotations: { summary: sentence(), version, ...counted },
    startsAt: isoTime(startsAtMs),
    endsAt: isoTime(endsAtMs),
    ...(link === null ? {} : { generatorURL: link }),
  };
}

/** The names that every version of Alertmanager takes. */
function labelName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_');
}

const PAGERDUTY_SEVERITIES = { info: 'info', low: 'info', medium: 'warning', high: 'error', critical: 'critical' } as const;

/** An event of PagerDuty's events v2: it triggers an incident, whose key is the alert's id, or resolves it. */
function pagerdutyEvent([alert]: readonly ToldAlert[], rule: ToldRule): object {
  if (alert === undefined) throw new Error('a message of PagerDuty has one alert');
  const { id, state, sentence, fromMs, link } = alert;
  return {
    event_action: state === 'told' ? 'trigger' : 'resolve',
    dedup_key: id,
    client: PRODUCT.name,
    payload: {
      // With the longest name and values it has less than the 1,024 characters that PagerDuty takes.
      summary: sentence(),
      source: PRODUCT.name,
      severity: PAGERDUTY_SEVERITIES[rule.severity],
      timestamp: isoTime(fromMs),
      class: rule.name,
      custom_details: alertJson(alert, rule),
    },
    ...(link === null ? {} : { client_url: link, links: [{ href: link, text: 'Show its events' }] }),
  };
}
