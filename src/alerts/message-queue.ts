import type { Outbox, OutboxMessage, WaitingMessages } from '../../alerts/evaluation/outbox.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import type { StoreLogger } from '../../store/event-store.ts';
import { type RetryOptions, untilDone } from '../sinks/feed-retry.ts';
import { DeliveryError } from '../sinks/sink.ts';
import type { AlertQuestions } from './alert-facts.ts';
import { explorerLink } from './explorer-link.ts';
import { type AlertMessage, type ToldAlert, toldAlert } from './told-alerts.ts';

/** What is delivered at a time, and settled with everything before it. */
export interface Parcel {
  readonly messages: readonly OutboxMessage[];
  /** How many further ones are counted and told with these. */
  readonly more: number;
  readonly upToSeq: number;
}

/** Where the messages of a queue go. */
export interface Destination {
  /** The name of its queue. */
  readonly queue: string;
  /** Its name for people. */
  readonly shownAs: string;
  /** What a rule has to tell is told at once, and then after so long, in milliseconds. */
  readonly paceMs: number;
  /** How many messages are read at a time. */
  readonly limit: number;
  /** Whether the first alert that is told comes with what its events have. */
  readonly hasFacts: boolean;
  parcels(waiting: WaitingMessages): readonly Parcel[];
  /** Resolves with what was answered. Throws DeliveryError: `unavailable` where another attempt may succeed; or the signal's reason. */
  deliver(message: AlertMessage, signal: AbortSignal): Promise<string>;
  close(): void;
}

export interface MessageQueueOptions extends Pick<RetryOptions, 'random' | 'pause'> {
  readonly outbox: Pick<Outbox, 'waiting' | 'settle'>;
  /** The rule in force of that name and version. */
  readonly ruleOf: (name: string, version: string) => Promise<AlertRule | undefined>;
  readonly questions: Pick<AlertQuestions, 'factsOf'>;
  /** Where browsers find the explorer; null: messages have no links. */
  readonly publicUrl: string | null;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: Pick<StoreLogger, 'info' | 'warn' | 'error'>;
}

const NO_RULE = 'the rule has changed since';

/** Delivers the messages of a queue in order, and again until they are taken or refused. */
export class MessageQueue {
  readonly #destination: Destination;
  readonly #options: MessageQueueOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** When each rule was last told, by its name. */
  readonly #toldAtMs = new Map<string, number>();
  #woken = Promise.withResolvers<void>();
  #failure: string | null = null;
  #refusal: string | null = null;

  constructor(destination: Destination, options: MessageQueueOptions) {
    this.#destination = destination;
    this.#options = options;
    this.#running = this.#run();
  }

  /** Says that there may be messages. */
  wake(): void {
    this.#woken.resolve();
  }

  /** What people have to look at: why the last message did not get through. */
  notes(): readonly string[] {
    return [this.#failure, this.#refusal].filter((note) => note !== null);
  }

  /** Ends what is under way, which is delivered again by the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#destination.close();
  }

  async #run(): Promise<void> {
    const { random, pause, logger } = this.#options;
    const { signal } = this.#stopping;
    const retry: RetryOptions = {
      stopping: signal,
      random,
      pause,
      tell: (line) => logger.warn({ to: this.#destination.shownAs }, line),
      failed: (message) => {
        this.#failure = message;
      },
    };
    while (!signal.aborted) {
      try {
        const isIdle = (await untilDone(() => this.#tellOldest(), retry)) === 'nothing waits';
        this.#failure = null;
        if (isIdle) await this.#rest();
      } catch (error) {
        if (signal.aborted) return;
        // The messages stay where they are.
        logger.error({ err: error }, `the alerts for ${this.#destination.shownAs} could not be read or settled; trying again`);
        this.#failure = `${this.#destination.shownAs}: ${(error as Error).message}`;
        await pause(FAULT_PAUSE_MS, signal).catch(() => {});
      }
    }
  }

  /** Waits for messages, or until a rule that was told may be told again. */
  async #rest(): Promise<void> {
    const { pause, now } = this.#options;
    const stopped = new AbortController();
    const signal = AbortSignal.any([stopped.signal, this.#stopping.signal]);
    const nextMs = Math.min(...this.#toldAtMs.values()) + this.#destination.paceMs - now();
    // Timers take no more than 2^31 milliseconds.
    const due = pause(Math.max(1, Math.min(nextMs, LONGEST_REST_MS)), signal).catch(() => {});
    await Promise.race([this.#woken.promise, due]);
    this.#woken = Promise.withResolvers();
    stopped.abort();
    await due;
  }

  /** Tells what waits of the rule that waits longest. */
  async #tellOldest(): Promise<'told' | 'nothing waits'> {
    const { outbox, now } = this.#options;
    const { queue, limit, paceMs } = this.#destination;
    for (const [name, atMs] of this.#toldAtMs) {
      if (atMs + paceMs <= now()) this.#toldAtMs.delete(name);
    }
    const waiting = await outbox.waiting(queue, { limit, except: [...this.#toldAtMs.keys()] });
    const rule = waiting?.messages[0]?.rule;
    if (waiting === null || rule === undefined) return 'nothing waits';
    for (const parcel of this.#destination.parcels(waiting)) await this.#deliver(rule, parcel);
    if (paceMs > 0) this.#toldAtMs.set(rule.name, now());
    return 'told';
  }

  async #deliver(rule: OutboxMessage['rule'], { messages, more, upToSeq }: Parcel): Promise<void> {
    const { outbox, now, logger } = this.#options;
    const { queue, shownAs } = this.#destination;
    const alerts = await this.#told(rule, messages);
    try {
      const answer = await this.#destination.deliver({ rule, alerts, more }, this.#stopping.signal);
      await outbox.settle(queue, rule, upToSeq, { kind: 'delivered', atMs: now(), answer });
      this.#refusal = null;
    } catch (error) {
      if (!(error instanceof DeliveryError) || error.code === 'unavailable') throw error;
      const { message } = error;
      await outbox.settle(queue, rule, upToSeq, { kind: 'refused', atMs: now(), answer: message });
      this.#refusal = `${shownAs} refused alerts of ${rule.name}: ${message}`;
      logger.error({ rule: rule.name, alerts: alerts.map(({ id }) => id), more }, `alerts were refused and are not sent again: ${message}`);
    }
  }

  async #told({ name, version }: OutboxMessage['rule'], messages: readonly OutboxMessage[]): Promise<readonly ToldAlert[]> {
    const { ruleOf, questions, publicUrl } = this.#options;
    const rule = await ruleOf(name, version);
    const first = this.#destination.hasFacts ? messages.find(({ state }) => state === 'told') : undefined;
    const facts = first === undefined ? null : rule === undefined ? NO_RULE : await questions.factsOf(rule, first.alert);
    return messages.map((message) => {
      const link = publicUrl === null || rule === undefined ? null : explorerLink(publicUrl, rule, message.alert);
      return toldAlert(message, { link, facts: message === first ? facts : null });
    });
  }
}

const FAULT_PAUSE_MS = 10_000;
const LONGEST_REST_MS = 60_000;
