import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { EventStore } from '../../store/event-store.ts';

/** A zone that no generated event is of. */
const FRESH_ZONE = 2_000_000;
/** Longer than a batch waits for company, so that each event is alone. */
const PAUSE_MS = 150;

interface FreshOptions {
  readonly brokers: string;
  readonly topic: string;
  readonly store: EventStore;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly count: number;
}

/** Milliseconds from the producer's call until a search finds the event, one event after the other. */
export async function freshLatencies({ brokers, topic, store, now, count }: FreshOptions): Promise<number[]> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  const latenciesMs: number[] = [];
  try {
    for (let place = 0; place < count; place += 1) {
      const value = JSON.stringify({ logId: `fresh-${place}`, shieldZoneId: FRESH_ZONE, timestamp: now(), action: 'logged' });
      const start = performance.now();
      await producer.send({ topic, messages: [{ value }] });
      while ((await freshCount(store)) <= place) {
        await delay(1);
      }
      latenciesMs.push(performance.now() - start);
      await delay(PAUSE_MS);
    }
  } finally {
    await producer.disconnect();
  }
  return latenciesMs;
}

async function freshCount(store: EventStore): Promise<number> {
  const { total } = await store.search({
    zoneId: FRESH_ZONE,
    window: { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
    where: { kind: 'everything' },
    page: { index: 0, size: 1 },
    output: { kind: 'rows' },
  });
  return total;
}
