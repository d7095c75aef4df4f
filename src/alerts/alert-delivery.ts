import type { Outbox } from '../../alerts/evaluation/outbox.ts';
import { HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { type Destination, MessageQueue, type MessageQueueOptions } from './message-queue.ts';

/** For so long a message is tried. */
export const TRIED_FOR_MS = 72 * HOUR_MS;
/** So many messages wait for a receiver; the oldest give way. */
export const MOST_WAITING = 10_000;

const REASONS = 'they waited too long, too many did, or their receiver is gone';

export interface AlertDeliveryOptions extends MessageQueueOptions {
  readonly outbox: Outbox;
  readonly destinations: readonly Destination[];
}

/** Delivers what waits in the outbox, each queue by itself. */
export class AlertDelivery {
  readonly #options: AlertDeliveryOptions;
  readonly #queues: readonly MessageQueue[];
  readonly #timer: NodeJS.Timeout;
  #givenUp = 0;
  #givingUp: Promise<void> = Promise.resolve();

  constructor(options: AlertDeliveryOptions) {
    this.#options = options;
    this.#queues = options.destinations.map((destination) => new MessageQueue(destination, options));
    this.#timer = setInterval(() => this.#giveUp(), MINUTE_MS);
    this.#giveUp();
  }

  /** Says that messages wait. */
  wake(): void {
    for (const queue of this.#queues) queue.wake();
  }

  /** What people have to look at. */
  notes(): readonly string[] {
    const givenUp = this.#givenUp === 0 ? [] : [`${this.#givenUp} messages were given up: ${REASONS}`];
    return [...this.#queues.flatMap((queue) => queue.notes()), ...givenUp];
  }

  /** What is under way is broken off, and sent again by the next start. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#queues.map((queue) => queue.stop()), this.#givingUp]);
  }

  #giveUp(): void {
    this.#givingUp = this.#givingUp.then(async () => {
      const { outbox, destinations, now, logger } = this.#options;
      const queues = destinations.map(({ queue }) => queue);
      try {
        const nowMs = now();
        const messages = await outbox.giveUp({ queues, queuedBeforeMs: nowMs - TRIED_FOR_MS, most: MOST_WAITING, atMs: nowMs });
        this.#givenUp += messages;
        if (messages > 0) logger.error({ messages }, `messages about alerts were given up: ${REASONS}`);
      } catch (error) {
        logger.error({ err: error }, 'messages about alerts that wait too long could not be given up; trying again in a minute');
      }
    });
  }
}
