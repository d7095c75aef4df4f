// The program that reads from Kafka, in a separate process, so that its memory is measured apart from the harness. It is started with its
// order as JSON in the first argument and sends its report as one message.
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { silentKafkaLogger } from '../../ingest/kafka/kafka-connection.ts';
import { startKafkaSource } from '../../ingest/kafka/kafka-source.ts';
import { MappingThreads } from '../../ingest/upload/mapping-threads.ts';
import { HOUR_MS } from '../../query/durations.ts';
import { openEmbeddedStore } from '../../store/embedded/open-store.ts';
import type { EventStore } from '../../store/event-store.ts';
import { startBackgroundSearches, timeSearch } from '../engines/timed-searches.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';

/** The order to the program that reads from Kafka. */
export interface KafkaOrder {
  readonly brokers: string;
  /** The topic that has all events when the program starts. */
  readonly backlog: string;
  readonly events: number;
  /** An empty topic, for single events. */
  readonly fresh: string;
  readonly latencies: number;
  /** Whether it also searches every 100 ms. */
  readonly searches: boolean;
  /** An empty folder. */
  readonly dataDir: string;
  readonly memoryLimitMb: number;
}

/** The measurements of the program; times in milliseconds. */
export interface KafkaReport {
  /** From the start of the source to the first message. */
  readonly toFirstMs: number;
  /** From the first message until the last event was durable and searchable. */
  readonly elapsedMs: number;
  readonly cpuMicros: number;
  readonly searchMs: readonly number[];
  readonly batches: number;
  readonly pauses: number;
  /** Peak until the backlog was searchable. */
  readonly peakRssBytes: number;
  /** From the producer's call until a search finds the event, for each single event. */
  readonly freshMs: readonly number[];
}

/** A zone without generated events. */
const FRESH_ZONE = 2_000_000;
/** Longer than a batch waits for more events, so that each event is in a batch of its own. */
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
async function freshLatencies({ brokers, topic, store, now, count }: FreshOptions): Promise<number[]> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  const latenciesMs: number[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const value = JSON.stringify({ logId: `fresh-${index}`, shieldZoneId: FRESH_ZONE, timestamp: now(), action: 'logged' });
      const start = performance.now();
      await producer.send({ topic, messages: [{ value }] });
      while ((await freshCount(store)) <= index) {
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
    zones: [FRESH_ZONE],
    window: { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER },
    where: { kind: 'everything' },
    page: { index: 0, size: 1 },
    output: { kind: 'rows' },
  });
  return total;
}

const RETENTION_MS = 72 * HOUR_MS;

const order = JSON.parse(process.argv[2] ?? '{}') as KafkaOrder;
const { brokers, backlog, fresh, events, dataDir, memoryLimitMb } = order;
const say = (text: string): boolean => process.stderr.write(`${text}\n`);
const started = Date.now();
// The end of the generated events, going on with the clock.
const now = (): number => BENCH_NOW_MS + Date.now() - started;

const store = await openEmbeddedStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now });
const cpu = process.cpuUsage();
const start = performance.now();
const source = startKafkaSource({
  kafka: { brokers: brokers.split(','), tls: null, sasl: null },
  topics: [backlog, fresh].map((pattern) => ({ pattern, mapping: null })),
  threads: new MappingThreads(new Map()),
  groupId: `${backlog}-${process.pid}`,
  store,
  now,
  retentionMs: RETENTION_MS,
  logger: { ...silentKafkaLogger, warn: (_, message) => say(message), error: (_, message) => say(message) },
});
const background = order.searches ? startBackgroundSearches((search) => timeSearch(store, search)) : null;
while (source.counters().messages === 0) {
  await delay(1);
}
const first = performance.now();
while ((await store.stats()).events < events) {
  await delay(5);
}
const end = performance.now();
const { user, system } = process.cpuUsage(cpu);
const searchMs = (await background?.stop()) ?? [];
const { batches, pauses } = source.counters();
const peakRssBytes = process.resourceUsage().maxRSS * 1024;
const freshMs = order.latencies === 0 ? [] : await freshLatencies({ brokers, topic: fresh, store, now, count: order.latencies });
await source.stop();
await store.close();
process.send?.({
  toFirstMs: first - start,
  elapsedMs: end - first,
  cpuMicros: user + system,
  searchMs,
  batches,
  pauses,
  peakRssBytes,
  freshMs,
} satisfies KafkaReport);
