import kafkajs, { type Message, type Producer } from 'kafkajs';
import { inject, onTestFinished } from 'vitest';
import { eventMessage } from './event-file.ts';
import { testClient } from './test-topic.ts';

/** A producer of kafkajs's for messages that have to be just so; it is disconnected with the test. */
export async function ownProducer(brokers = inject('kafkaBrokers'), transactionalId?: string): Promise<Producer> {
  const producer = testClient(brokers).producer({
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    ...(transactionalId === undefined ? {} : { transactionalId, idempotent: true, maxInFlightRequests: 1 }),
  });
  await producer.connect();
  onTestFinished(() => producer.disconnect());
  return producer;
}

export async function sendValues(producer: Producer, topic: string, values: readonly (Buffer | null)[], partition = 0): Promise<void> {
  const messages: Message[] = values.map((value) => ({ value, partition }));
  await producer.send({ topic, messages, acks: -1 });
}

/** Sends an event for each id. */
export function sendEvents(producer: Producer, topic: string, ids: readonly string[], partition?: number): Promise<void> {
  const events = ids.map((id) => eventMessage(id));
  return sendValues(producer, topic, events, partition);
}
