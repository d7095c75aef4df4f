import type { Outbox, OutboxMessage, ToldRule } from '../../alerts/evaluation/outbox.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import type { StoreLogger } from '../../store/event-store.ts';
import { type RetryOptions, untilDone } from '../sinks/feed-retry.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { explorerLink, type FactsOf } from './alert-facts.ts';
import { type AlertMessage, toldAlert } from './told-alerts.ts';

/** For so long a message is tried. */
export const TRIED_FOR_MS = 72 * HOUR_MS;
/** So many messages wait for a receiver; the oldest give way. */
export const MOST_WAITING = 10_000;

const REASONS = 'they waited too long, too many did, or their receiver is gone';

/** What a rule has to tell is told at once, and then after so long. */
export const PACE_MS = MINUTE_MS;
/** The most alerts that a message for people names. */
export const ALERTS_A_MESSAGE = 20;
/** The most alerts in a message that has every one. */
export const ALERTS_AN_ARRAY = 500;

/** How a destination is told of a rule: of how many alerts at a time, how often, and whether the first one has what its events have. */
const TELLINGS = {
  /** One message, which counts the alerts that it does not name. */
  summed: { most: ALERTS_A_MESSAGE, paceMs: PACE_MS, hasFacts: true },
  /** Messages that name every alert. */
  together: { most: ALERTS_AN_ARRAY, paceMs: PACE_MS, hasFacts: true },
  /** A message for each alert. */
  singly: { most: ALERTS_A_MESSAGE, paceMs: PACE_MS, hasFacts: true },
  /** Every alert, without a pause, as events that have what their events have beside them. */
  stored: { most: ALERTS_AN_ARRAY, paceMs: 0, hasFacts: false },
} as const;

/** Where the messages of a queue go. */
export interface Destination {
  /** The name of its queue. */
  readonly queue: string;
  /** Its name for people. */
  readonly shownAs: string;
  readonly telling: keyof typeof TELLINGS;
  /** Resolves with what was answered. Throws DeliveryError: `unavailable` where another attempt may succeed; or the signal's reason. */
  deliver(message: AlertMessage, signal: AbortSignal): Promise<string>;
  close(): void;
}

export interface AlertDeliveryOptions extends Pick<RetryOptions, 'random' | 'pause'> {
  readonly outbox: Outbox;
  readonly destinations: readonly Destination[];
  /** The rule in force of that name and version. */
  readonly ruleOf: (name: string, version: string) => Promise<AlertRule | undefined>;
  readonly factsOf: FactsOf;
  /** Where browsers find the explorer; null: messages have no links. */
  readonly publicUrl: string | null;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: StoreLogger;
}

/** The delivery of messages, of one queue or of all. */
export interface AlertDelivery {
  /** Says that messages wait. */
  wake(): void;
  /** What people have to look at. */
  notes(): readonly string[];
  /** What is under way is broken off, and sent again by the next start. */
  stop(): Promise<void>;
}

/** Delivers what waits in the outbox, each queue by itself, and gives up what waits for too long. */
export function startDelivery(options: AlertDeliveryOptions): AlertDelivery {
  const { outbox, destinations, now, logger } = options;
  const queues = destinations.map((destination) => startQueue(destination, options));
  let givenUp = 0;

  async function giveUp(): Promise<void> {
    const nowMs = now();
    try {
      const names = destinations.map(({ queue }) => queue);
      const messages = await outbox.giveUp({ queues: names, queuedBeforeMs: nowMs - TRIED_FOR_MS, most: MOST_WAITING, atMs: nowMs });
      givenUp += messages;
      if (messages > 0) logger.error({ messages }, `messages about alerts were given up: ${REASONS}`);
    } catch (error) {
      logger.error({ err: error }, 'messages about alerts that wait too long could not be given up; trying again in a minute');
    }
  }

  let givingUp = giveUp();
  const timer = setInterval(() => {
    givingUp = giveUp();
  }, MINUTE_MS);
  return {
    wake: () => {
      for (const queue of queues) queue.wake();
    },
    notes: () => {
      const lost = givenUp === 0 ? [] : [`messages about alerts that were given up: ${givenUp}; ${REASONS}`];
      return [...queues.flatMap((queue) => queue.notes()), ...lost];
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all([...queues.map((queue) => queue.stop()), givingUp]);
    },
  };
}

/** Delivers the messages of a queue in order, and again until they are taken or refused. */
function startQueue(destination: Destination, options: AlertDeliveryOptions): AlertDelivery {
  const { outbox, ruleOf, factsOf, publicUrl, now, random, pause, logger } = options;
  const { queue, shownAs, telling } = destination;
  const { most, paceMs, hasFacts } = TELLINGS[telling];
  const stop = new AbortController();
  const { signal: stopping } = stop;
  /** The names of the rules that were told less than a pace ago. */
  const resting = new Set<string>();
  let woken = Promise.withResolvers<void>();
  /** Why the last message did not get through. */
  let failure: string | null = null;
  let refusal: string | null = null;

  async function messageOf(rule: ToldRule, messages: readonly OutboxMessage[], more: number): Promise<AlertMessage> {
    const inForce = await ruleOf(rule.name, rule.version);
    const first = hasFacts ? messages.find(({ state }) => state === 'told') : undefined;
    const facts = first && (inForce === undefined ? 'the rule has changed since' : await factsOf(inForce, first.alert));
    const alerts = messages.map((message) => {
      const link = publicUrl === null || inForce === undefined ? null : explorerLink(publicUrl, inForce, message.alert);
      return toldAlert(message, { link, facts: message === first ? (facts ?? null) : null });
    });
    return { rule, alerts, more };
  }

  /** Delivers a message, and settles what waits of its rule up to a number. */
  async function deliver(message: AlertMessage, upToSeq: number): Promise<void> {
    const { rule, more } = message;
    try {
      const answer = await destination.deliver(message, stopping);
      await outbox.settle(queue, rule, upToSeq, { kind: 'delivered', atMs: now(), answer });
      refusal = null;
    } catch (error) {
      if (!(error instanceof DeliveryError) || error.code === 'unavailable') throw error;
      await outbox.settle(queue, rule, upToSeq, { kind: 'refused', atMs: now(), answer: error.message });
      refusal = `${shownAs} refused alerts of ${rule.name}: ${error.message}`;
      const alerts = message.alerts.map(({ id }) => id);
      logger.error({ rule: rule.name, alerts, more }, `alerts were refused and are not sent again: ${error.message}`);
    }
  }

  /** Tells no more of a rule until its pace has passed. */
  function rest(rule: string): void {
    const wakeUp = (): void => {
      resting.delete(rule);
      woken.resolve();
    };
    resting.add(rule);
    pause(paceMs, stopping).then(wakeUp, wakeUp);
  }

  /**
   * Tells what waits of the rule that waits longest. Resolves with whether there is none. Throws DeliveryError (`unavailable`), also where
   * messages could not be read or settled: they stay where they are.
   */
  async function tellOldest(): Promise<boolean> {
    try {
      const waiting = await outbox.waiting(queue, { limit: most, except: [...resting] });
      const rule = waiting?.messages[0]?.rule;
      if (waiting === null || rule === undefined) return true;
      const { messages, total, lastSeq } = waiting;
      if (telling === 'singly') for (const one of messages) await deliver(await messageOf(rule, [one], 0), one.seq);
      else if (telling === 'summed') await deliver(await messageOf(rule, messages, total - messages.length), lastSeq);
      else await deliver(await messageOf(rule, messages, 0), messages.at(-1)?.seq ?? lastSeq);
      if (paceMs > 0) rest(rule.name);
      return false;
    } catch (error) {
      if (error instanceof DeliveryError || stopping.aborted) throw error;
      logger.error({ err: error }, `the alerts for ${shownAs} could not be read or settled`);
      throw new DeliveryError('unavailable', `${shownAs}: ${(error as Error).message}`, { cause: error });
    }
  }

  async function run(): Promise<void> {
    const tell = (line: string): void => logger.warn({ to: shownAs }, line);
    const failed = (message: string): void => {
      failure = message;
    };
    try {
      while (!stopping.aborted) {
        const isIdle = await untilDone(tellOldest, { stopping, random, pause, tell, failed });
        failure = null;
        if (!isIdle) continue;
        await woken.promise;
        woken = Promise.withResolvers();
      }
    } catch (error) {
      if (!stopping.aborted) throw error;
    }
  }

  const running = run();
  return {
    wake: () => woken.resolve(),
    notes: () => [failure, refusal].filter((note) => note !== null),
    stop: async () => {
      stop.abort();
      woken.resolve();
      await running;
      destination.close();
    },
  };
}
