import type { RuleSeverity } from '../../alerts/rule.ts';
import { PRODUCT } from '../formats/product.ts';
import type { Receiver } from './receiver-file.ts';
import { type AlertMessage, type ReceiverRequest, sentenceText } from './told-alerts.ts';
import { alertJson } from './webhook-message.ts';

const SEVERITIES: Readonly<Record<RuleSeverity, string>> = {
  info: 'info',
  low: 'info',
  medium: 'warning',
  high: 'error',
  critical: 'critical',
};

/** A longer summary is refused. */
const MAX_SUMMARY_CHARACTERS = 1_024;

/** An event of PagerDuty's events v2 of a message with one alert: it triggers an incident, whose key is the alert's id, or resolves it. */
export function pagerdutyRequest(
  { rule, alerts: [alert] }: AlertMessage,
  { routingKey }: Extract<Receiver, { readonly kind: 'pagerduty' }>,
): ReceiverRequest {
  if (alert === undefined) throw new Error('a message of PagerDuty has one alert');
  const { id, state, sentence, fromMs, link } = alert;
  const event = {
    routing_key: routingKey,
    event_action: state === 'told' ? 'trigger' : 'resolve',
    dedup_key: id,
    client: PRODUCT.name,
    payload: {
      summary: [...sentenceText(sentence)].slice(0, MAX_SUMMARY_CHARACTERS).join(''),
      source: PRODUCT.name,
      severity: SEVERITIES[rule.severity],
      timestamp: new Date(fromMs).toISOString(),
      class: rule.name,
      custom_details: alertJson(alert, rule),
    },
    ...(link === null ? {} : { client_url: link, links: [{ href: link, text: 'Show its events' }] }),
  };
  return { headers: {}, body: JSON.stringify(event) };
}
