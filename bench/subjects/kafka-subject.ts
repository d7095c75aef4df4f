// The program that reads from Kafka in a process of its own, so that its memory can be told from the harness's. Started with what to do as
// JSON in the first argument; sends what it measured as one message.
import { setTimeout as delay } from 'node:timers/promises';
import { silentKafkaLogger } from '../../ingest/kafka/kafka-log.ts';
import { startKafkaSource } from '../../ingest/kafka/kafka-source.ts';
import { openStore } from '../../store/embedded/open-store.ts';
import { startBackgroundSearches } from '../engines/background-search.ts';
import { timeSearch } from '../engines/time-search.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';
import { freshLatencies } from './kafka-latency.ts';
import type { KafkaOrder, KafkaReport } from './kafka-subject-report.ts';

const RETENTION_MS = 72 * 3_600_000;

const order = JSON.parse(process.argv[2] ?? '{}') as KafkaOrder;
const { brokers, backlog, fresh, events, dataDir, memoryLimitMb } = order;
const say = (text: string): boolean => process.stderr.write(`${text}\n`);
const started = Date.now();
// The events' present, going on at the pace of ours.
const now = (): number => BENCH_NOW_MS + Date.now() - started;

const store = await openStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now });
const cpu = process.cpuUsage();
const start = performance.now();
const source = startKafkaSource({
  kafka: { brokers: brokers.split(','), tls: null, sasl: null },
  topics: [backlog, fresh],
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
while (store.stats().events < events) {
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
