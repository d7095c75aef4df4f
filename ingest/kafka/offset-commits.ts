import type { Consumer } from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';
import type { KafkaLogger } from './kafka-connection.ts';

export interface OffsetCommitsOptions {
  readonly consumer: Pick<Consumer, 'commitOffsets'>;
  readonly store: EventStore;
  readonly logger: KafkaLogger;
}

/** Commits the stored offsets to the consumer group, for monitoring tools: reading goes on from those in the store. */
export class OffsetCommits {
  readonly #options: OffsetCommitsOptions;
  /** By topic and partition. */
  readonly #committed = new Map<string, bigint>();

  constructor(options: OffsetCommitsOptions) {
    this.#options = options;
  }

  /** Commits what has moved since the last commit. Never rejects. */
  async commit(partitions: Iterable<{ readonly topic: string; readonly partition: number }>): Promise<void> {
    const { consumer, store, logger } = this.#options;
    try {
      const moved: { key: string; topic: string; partition: number; stored: bigint }[] = [];
      for (const { topic, partition } of partitions) {
        const key = `${topic}/${partition}`;
        const stored = await store.sourceOffset(topic, partition);
        if (stored !== undefined && stored !== this.#committed.get(key)) {
          moved.push({ key, topic, partition, stored });
        }
      }
      if (moved.length === 0) {
        return;
      }
      await consumer.commitOffsets(moved.map(({ topic, partition, stored }) => ({ topic, partition, offset: String(stored) })));
      for (const { key, stored } of moved) {
        this.#committed.set(key, stored);
      }
    } catch (error) {
      // Nothing depends on the commit, and the next round tries again.
      logger.debug({ err: error }, 'the offsets could not be committed to the Kafka consumer group');
    }
  }
}
