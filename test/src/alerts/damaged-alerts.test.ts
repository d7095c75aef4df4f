import { expect, test } from 'vitest';
import * as kept from '../../../alerts/evaluation/kept-text.ts';
import type { OutboxMessage } from '../../../alerts/evaluation/outbox.ts';
import { alertsJson } from '../../../src/alerts/alerts-json.ts';
import { receiverRequest } from '../../../src/alerts/receiver-request.ts';
import { NOON, SAMPLE_RULE, sampleAlert, sampleMessage, sampleReceiver, sampleSent } from './sample-alerts.ts';

type Overview = Parameters<typeof alertsJson>[0];

const NOTHING: Overview = { rules: [], alerts: [], deliveries: [], silences: [], facts: { refusals: {} } };
const TOLD = { rule: SAMPLE_RULE, queues: ['soc'], kept: null };
const SILENCE = { id: 1, rule: SAMPLE_RULE.name, zones: [7], group: null, fromMs: NOON, toMs: NOON + 1, reason: 'a load test' };
const DELIVERY = { seq: 1, queue: 'soc', state: 'told', alertId: 'a', rule: SAMPLE_RULE, outcome: null } as const;
const { seq: _seq, queuedAtMs: _queuedAtMs, ...MESSAGE } = sampleMessage(1, { state: 'resolved' });

/** Makes the answer of `GET /alerts`. */
function answer(overview: Partial<Overview>): void {
  const caller = { opensZone: () => true, opensEveryZone: true };
  JSON.stringify(alertsJson({ ...NOTHING, ...overview }, caller, { limit: 10, nowMs: NOON }));
}

/** Makes the message to a receiver of each kind. */
function tell(message: OutboxMessage): void {
  for (const kind of ['webhook', 'slack', 'alertmanager', 'pagerduty'] as const) {
    receiverRequest(sampleSent(message), sampleReceiver(kind, new URL('http://127.0.0.1')), NOON);
  }
}

/** What a text of the state has, and what is made of it. */
const TEXTS: Readonly<Record<string, readonly [value: object, use: (text: string) => void]>> = {
  alert: [sampleAlert(1), (text) => answer({ alerts: [{ alert: kept.readAlert(text), told: TOLD, earlyEnd: null }] })],
  told: [TOLD, (text) => answer({ alerts: [{ alert: sampleAlert(1), told: kept.readTold(text), earlyEnd: null }] })],
  message: [
    MESSAGE,
    (text) => {
      const message = { ...kept.readMessage(text), seq: 1, queuedAtMs: NOON };
      answer({ deliveries: [{ ...DELIVERY, rule: message.rule }] });
      tell(message);
    },
  ],
  outcome: [
    { kind: 'refused', atMs: NOON, answer: '404' },
    (text) => answer({ deliveries: [{ ...DELIVERY, outcome: kept.readOutcome(text) }] }),
  ],
  'zones of a silence': [[7, 8], (text) => answer({ silences: [{ ...SILENCE, zones: kept.readSilencedZones(text) }] })],
  'group of a silence': [['192.0.2.1'], (text) => answer({ silences: [{ ...SILENCE, group: kept.readSilencedGroup(text) }] })],
  progress: [
    { cursor: 'A', completeToMs: NOON, told: 1, refusals: { lost: 1, last: 'lost' } },
    (text) => answer({ facts: kept.readProgress(text) }),
  ],
};

const OTHERS = [...'"\\{}[]:,.9ex \u0000'];

test.each(Object.entries(TEXTS))(
  'with any of its characters changed the %s is refused, or answers and messages can be made of it',
  (_, [value, use]) => {
    const text = JSON.stringify(value);
    use(text);
    const refused = Array.from(text).flatMap((_character, at) => {
      return OTHERS.filter((other) => {
        try {
          use(text.slice(0, at) + other + text.slice(at + 1));
          return false;
        } catch (error) {
          expect(error, `${other} at ${at} of ${text}`).toBeInstanceOf(kept.DamagedText);
          return true;
        }
      });
    });
    expect(refused.length).toBeGreaterThan(0);
  },
);
