import type { Outbox, OutboxMessage, ToldRule } from '../../../alerts/evaluation/outbox.ts';
import type { Alert } from '../../../alerts/fold-state.ts';
import type { Receiver } from '../../../src/alerts/receiver-file.ts';
import { type AlertMessage, toldAlert } from '../../../src/alerts/told-alerts.ts';

export const NOON = Date.UTC(2026, 4, 12, 12);
const MINUTE = 60_000;

export const SAMPLE_RULE: ToldRule = {
  name: 'credential-stuffing',
  version: 'a'.repeat(64),
  severity: 'high',
  labels: { team: 'edge' },
  by: ['ip'],
  zones: [7],
};

/** The nth alert of a rule, of a window of ten minutes. */
export function sampleAlert(nth: number, changed: Partial<Alert> = {}): Alert {
  return {
    id: nth.toString(16).padStart(32, '0'),
    nth,
    group: [{ text: `192.0.2.${nth % 256}` }],
    windowMs: NOON,
    fromMs: NOON,
    toMs: NOON + 10 * MINUTE,
    hits: 1,
    completedAtMs: NOON + 3 * MINUTE,
    toldAtMs: NOON + 3 * MINUTE,
    resolvesAtMs: NOON + 40 * MINUTE,
    resolvedAtMs: null,
    isBounded: false,
    ...changed,
  };
}

export function sampleMessage(nth: number, changed: Partial<OutboxMessage> = {}): OutboxMessage {
  const alert = sampleAlert(nth, changed.state === 'resolved' ? { resolvedAtMs: NOON + 40 * MINUTE } : {});
  return { seq: nth, state: 'told', rule: SAMPLE_RULE, alert, earlyEnd: null, queuedAtMs: NOON + 3 * MINUTE, ...changed };
}

/** What is sent about some messages, without links and facts. */
export function sampleSent(...messages: readonly OutboxMessage[]): AlertMessage {
  const [first = sampleMessage(1)] = messages;
  return { rule: first.rule, alerts: messages.map((message) => toldAlert(message, { link: null, facts: null })), more: 0 };
}

/** A receiver without secrets. */
export function sampleReceiver(kind: Receiver['kind'], url: URL, changed: Partial<Receiver> = {}): Receiver {
  return { name: 'soc', kind, url, ca: null, signingSecret: null, token: null, routingKey: null, secrets: [], ...changed };
}

interface Queued {
  readonly queue: string;
  readonly message: OutboxMessage;
  settled: Parameters<Outbox['settle']>[3] | null;
}

/** An outbox in memory, which outlives what delivers from it, as a file does. */
export class MemoryOutbox implements Outbox {
  readonly queued: Queued[] = [];

  add(queue: string, ...messages: readonly OutboxMessage[]): void {
    this.queued.push(...messages.map((message) => ({ queue, message, settled: null })));
  }

  /** What became of the messages of a queue, in their order; null: they wait. */
  outcomes(queue: string): readonly (string | null)[] {
    return this.queued.filter((one) => one.queue === queue).map(({ settled }) => settled?.kind ?? null);
  }

  async waiting(queue: string, { limit, except }: Parameters<Outbox['waiting']>[1]): ReturnType<Outbox['waiting']> {
    const waiting = this.queued.filter((one) => one.queue === queue && one.settled === null && !except.includes(one.message.rule.name));
    const [first] = waiting;
    if (first === undefined) return null;
    const { name, version } = first.message.rule;
    const ofRule = waiting.map(({ message }) => message).filter(({ rule }) => rule.name === name && rule.version === version);
    return { messages: ofRule.slice(0, limit), total: ofRule.length, lastSeq: ofRule.at(-1)?.seq ?? 0 };
  }

  async settle(...[queue, { name, version }, upToSeq, settled]: Parameters<Outbox['settle']>): Promise<void> {
    for (const one of this.queued) {
      const { rule, seq } = one.message;
      const isMeant = one.queue === queue && one.settled === null && rule.name === name && rule.version === version;
      if (isMeant && seq <= upToSeq) one.settled = settled;
    }
  }

  async giveUp({ queues, queuedBeforeMs, most, atMs }: Parameters<Outbox['giveUp']>[0]): Promise<number> {
    let givenUp = 0;
    for (const [queue, ofQueue] of Map.groupBy(this.queued, (one) => one.queue)) {
      const waiting = ofQueue.filter(({ settled }) => settled === null);
      for (const [index, one] of waiting.entries()) {
        const isNew = one.message.queuedAtMs >= queuedBeforeMs && index >= waiting.length - most;
        if (isNew && queues.includes(queue)) continue;
        one.settled = { kind: 'given_up', atMs };
        givenUp += 1;
      }
    }
    return givenUp;
  }
}
