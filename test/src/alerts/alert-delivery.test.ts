import { expect, onTestFinished, test } from 'vitest';
import type { Outbox, OutboxMessage } from '../../../alerts/evaluation/outbox.ts';
import {
  type AlertDelivery,
  type AlertDeliveryOptions,
  MOST_WAITING,
  startDelivery,
  TRIED_FOR_MS,
} from '../../../src/alerts/alert-delivery.ts';
import { receiverClient } from '../../../src/alerts/receiver-client.ts';
import type { Receiver } from '../../../src/alerts/receiver-file.ts';
import { silentLogger } from '../../../store/event-store.ts';
import { type HttpListener, httpListener, type Reaction, type Received } from '../sinks/http-listener.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryOutbox, NOON, SAMPLE_RULE, sampleAlert, sampleMessage, sampleReceiver } from './sample-alerts.ts';

const MINUTE = 60_000;
const OTHER_RULE = { ...SAMPLE_RULE, name: 'scanner' };

/** A program that delivers what is in an outbox to one receiver. */
class Delivering {
  readonly clock = new ManualClock(NOON);
  readonly #options: Omit<AlertDeliveryOptions, 'outbox' | 'destinations'>;
  readonly #receiver: Receiver;
  #delivery: AlertDelivery | undefined;

  constructor(receiver: Receiver, factsOf: AlertDeliveryOptions['factsOf'] = async () => 'nobody was asked') {
    const { now, pause } = this.clock;
    this.#receiver = receiver;
    this.#options = { ruleOf: async () => undefined, factsOf, publicUrl: null, now, pause, random: () => 1, logger: silentLogger };
    onTestFinished(() => this.stop());
  }

  start(outbox: Outbox): AlertDelivery {
    const destinations = [receiverClient(this.#receiver, this.clock.now)];
    this.#delivery = startDelivery({ ...this.#options, outbox, destinations });
    return this.#delivery;
  }

  async stop(): Promise<void> {
    await this.#delivery?.stop();
    this.#delivery = undefined;
  }
}

async function listen(react: (request: Received) => Reaction): Promise<HttpListener> {
  const listener = await httpListener(react);
  onTestFinished(() => listener.stop());
  return listener;
}

function webhookAt({ url }: HttpListener): Receiver {
  return sampleReceiver('webhook', url);
}

function queued(outbox: MemoryOutbox, from: number, to: number, changed: Partial<OutboxMessage> = {}): void {
  for (let nth = from; nth <= to; nth += 1) outbox.add('soc', sampleMessage(nth, changed));
}

/** What each request told: the rule, the numbers of the alerts, and how many more there are. */
const told = ({ received }: HttpListener) =>
  received.map(({ body }) => {
    const { rule, alerts, more } = JSON.parse(body);
    return [rule, alerts.map(({ id }: { id: string }) => Number.parseInt(id, 16)), more];
  });

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, nth) => from + nth);

test('a rule is told at once and then once a minute: twenty alerts, and how many there are more', async () => {
  const listener = await listen(() => ({ status: 200 }));
  const outbox = new MemoryOutbox();
  const program = new Delivering(webhookAt(listener));
  queued(outbox, 1, 1);
  const delivery = program.start(outbox);
  await expect.poll(() => told(listener)).toEqual([['credential-stuffing', [1], 0]]);
  queued(outbox, 2, 31);
  queued(outbox, 32, 32, { rule: OTHER_RULE });
  delivery.wake();
  await expect
    .poll(() => told(listener))
    .toEqual([
      ['credential-stuffing', [1], 0],
      ['scanner', [32], 0],
    ]);
  const waiting = () => outbox.outcomes('soc').filter((outcome) => outcome === null).length;
  // The receiver has a message before the program has its answer.
  await expect.poll(waiting).toBe(30);
  program.clock.advance(MINUTE - 1);
  expect(waiting()).toBe(30);
  program.clock.advance(1);
  await expect.poll(() => told(listener).at(2)).toEqual(['credential-stuffing', numbers(2, 21), 10]);
  await expect.poll(() => new Set(outbox.outcomes('soc'))).toEqual(new Set(['delivered']));
});

test('who keeps alerts open gets every one of them: an Alertmanager in arrays, PagerDuty each by itself', async () => {
  const listener = await listen(() => ({ status: 202 }));
  const outbox = new MemoryOutbox();
  const { url } = listener;
  const waiting = () => outbox.outcomes('soc').filter((outcome) => outcome === null).length;
  const alertmanager = new Delivering(sampleReceiver('alertmanager', url));
  queued(outbox, 1, 510);
  alertmanager.start(outbox);
  await expect.poll(waiting).toBe(10);
  alertmanager.clock.advance(MINUTE);
  await expect.poll(waiting).toBe(0);
  await alertmanager.stop();
  expect(listener.received.map(({ body }) => JSON.parse(body).length)).toEqual([500, 10]);
  const pagerduty = new Delivering(sampleReceiver('pagerduty', url, { routingKey: 'key' }));
  queued(outbox, 511, 535);
  pagerduty.start(outbox);
  await expect.poll(waiting).toBe(5);
  pagerduty.clock.advance(MINUTE);
  await expect.poll(waiting).toBe(0);
  const keys = listener.received.slice(2).map(({ body }) => Number.parseInt(JSON.parse(body).dedup_key, 16));
  expect(keys).toEqual(numbers(511, 535));
});

test('what a receiver does not take for the moment is sent again, in its order, and told until it is taken', async () => {
  const reactions: Reaction[] = [{ status: 503, body: 'not yet' }, 'reset', { status: 429, headers: { 'retry-after': '90' } }];
  const listener = await listen(() => reactions.shift() ?? { status: 200 });
  const outbox = new MemoryOutbox();
  const program = new Delivering(webhookAt(listener));
  queued(outbox, 1, 1);
  const delivery = program.start(outbox);
  await expect.poll(() => delivery.notes()).toEqual([expect.stringMatching(/^receiver soc: POST http:\S+ answered 503: not yet$/)]);
  queued(outbox, 2, 2);
  delivery.wake();
  program.clock.advance(500);
  await expect.poll(() => delivery.notes()).toEqual([expect.stringContaining('the connection to')]);
  program.clock.advance(1_000);
  await expect.poll(() => delivery.notes()).toEqual([expect.stringContaining('answered 429')]);
  // A retry waits for as long as the receiver asks.
  program.clock.advance(90_000 - 1);
  expect(listener.received).toHaveLength(3);
  program.clock.advance(1_001);
  await expect.poll(() => told(listener).at(-1)).toEqual(['credential-stuffing', [1, 2], 0]);
  await expect.poll(() => [outbox.outcomes('soc'), delivery.notes()]).toEqual([['delivered', 'delivered'], []]);
});

test('what a receiver refuses for good is told with its answer, and the next message goes on', async () => {
  const listener = await listen(({ body }) => (body.includes('scanner') ? { status: 200 } : { status: 400, body: 'invalid_payload' }));
  const outbox = new MemoryOutbox();
  const program = new Delivering(webhookAt(listener));
  queued(outbox, 1, 2);
  const delivery = program.start(outbox);
  await expect.poll(() => outbox.outcomes('soc')).toEqual(['refused', 'refused']);
  expect(outbox.queued[0]?.settled).toMatchObject({ atMs: NOON, answer: expect.stringContaining('answered 400: invalid_payload') });
  expect(delivery.notes()).toEqual([expect.stringMatching(/^receiver soc refused alerts of credential-stuffing: .*invalid_payload$/)]);
  queued(outbox, 3, 3, { rule: OTHER_RULE });
  delivery.wake();
  await expect.poll(() => outbox.outcomes('soc')).toEqual(['refused', 'refused', 'delivered']);
  await expect.poll(() => delivery.notes()).toEqual([]);
  expect(listener.received).toHaveLength(2);
});

test.each(['a program that is killed before it has settled', 'an outbox that cannot be written'])(
  '%s sends the same alert again',
  async (what) => {
    const listener = await listen(() => ({ status: 200 }));
    const outbox = new MemoryOutbox();
    queued(outbox, 1, 1);
    const program = new Delivering(webhookAt(listener));
    const isKilled = what.startsWith('a program');
    let fails = true;
    const failing: Outbox = {
      waiting: (queue, options) => outbox.waiting(queue, options),
      giveUp: (options) => outbox.giveUp(options),
      settle: async (...settled) => {
        if (fails) throw new Error('the disk is full');
        await outbox.settle(...settled);
      },
    };
    const delivery = program.start(failing);
    await expect.poll(() => delivery.notes()).toEqual(['receiver soc: the disk is full']);
    fails = false;
    if (isKilled) {
      await program.stop();
      program.start(outbox);
    } else {
      program.clock.advance(10_000);
    }
    await expect.poll(() => outbox.outcomes('soc')).toEqual(['delivered']);
    expect(told(listener)).toEqual([
      ['credential-stuffing', [1], 0],
      ['credential-stuffing', [1], 0],
    ]);
  },
);

test('a stop breaks off what a receiver does not answer, and the message waits', async () => {
  const listener = await listen(() => 'silent');
  const outbox = new MemoryOutbox();
  queued(outbox, 1, 1);
  const program = new Delivering(webhookAt(listener));
  program.start(outbox);
  await expect.poll(() => listener.received).toHaveLength(1);
  await program.stop();
  expect(outbox.outcomes('soc')).toEqual([null]);
});

test('what waits for too long is given up and told, and so is the oldest of too many', async () => {
  const listener = await listen(() => ({ status: 503 }));
  const outbox = new MemoryOutbox();
  queued(outbox, 1, 1, { queuedAtMs: NOON - TRIED_FOR_MS - 1 });
  queued(outbox, 2, MOST_WAITING + 2, { queuedAtMs: NOON - TRIED_FOR_MS });
  const delivery = new Delivering(webhookAt(listener)).start(outbox);
  await expect.poll(() => outbox.outcomes('soc').filter((outcome) => outcome === 'given_up')).toHaveLength(2);
  expect(outbox.outcomes('soc').slice(0, 3)).toEqual(['given_up', 'given_up', null]);
  await expect
    .poll(() => delivery.notes())
    .toContain('messages about alerts that were given up: 2; they waited too long, too many did, or their receiver is gone');
});

test('messages of a receiver that there is no more are given up at the start, and others are delivered', async () => {
  const listener = await listen(() => ({ status: 200 }));
  const outbox = new MemoryOutbox();
  outbox.add('gone', sampleMessage(1));
  outbox.add('soc', sampleMessage(2));
  const delivery = new Delivering(webhookAt(listener)).start(outbox);
  await expect.poll(() => [...outbox.outcomes('gone'), ...outbox.outcomes('soc')]).toEqual(['given_up', 'delivered']);
  await expect
    .poll(() => delivery.notes())
    .toEqual([expect.stringMatching(/^messages about alerts that were given up: 1; .*receiver is gone$/)]);
});

test('the first alert that is told has what its events have, if it is found, and a link', async () => {
  const listener = await listen(() => ({ status: 200 }));
  const outbox = new MemoryOutbox();
  outbox.add('soc', sampleMessage(1, { state: 'resolved' }), sampleMessage(2), sampleMessage(3));
  const program = new Delivering(webhookAt(listener), async () => 'nobody was asked');
  program.start(outbox);
  await expect.poll(() => listener.received).toHaveLength(1);
  const { alerts } = JSON.parse(listener.received[0]?.body ?? '');
  // No rule of that version is in force.
  expect(alerts.map(({ withoutFacts }: { withoutFacts?: string }) => withoutFacts)).toEqual([
    undefined,
    'the rule has changed since',
    undefined,
  ]);
  expect(sampleAlert(2).id).toBe(alerts[1].id);
});
