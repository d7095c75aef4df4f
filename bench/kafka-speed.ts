// Measures the way from a local Kafka broker into the store: how fast a backlog becomes durable and searchable, with a search every 100 ms,
// and how long a single event takes from the producer's call until a search finds it.
//   node bench/kafka-speed.ts [--events N] [--partitions N] [--codec none|gzip|snappy|lz4|zstd] [--memory-limit-mb N] [--latencies N]
// The broker is the one that KAFKA_BROKERS names, or one of its own from Docker or Maven's jars.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startKafkaSource } from '../ingest/kafka-source.ts';
import { openStore } from '../store/open-store.ts';
import { silentLogger } from '../store/store-logger.ts';
import { CODECS, produceFile } from '../test/broker/foreign-producer.ts';
import { startBroker } from '../test/broker/kafka-broker.ts';
import { createTopic, uniqueName } from '../test/broker/test-topic.ts';
import { startBackgroundSearches } from './background-search.ts';
import { BENCH_NOW_MS, benchOptions, eventFile } from './event-file.ts';
import { integerOption } from './integer-option.ts';
import { freshLatencies } from './kafka-latency.ts';
import { percentile } from './percentile.ts';
import { circumstances } from './report.ts';

const RETENTION_MS = 72 * 3_600_000;

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    partitions: { type: 'string', default: '4' },
    codec: { type: 'string', default: 'lz4' },
    latencies: { type: 'string', default: '100' },
    'memory-limit-mb': { type: 'string', default: '1024' },
  },
});
const events = integerOption('events', values.events);
const partitions = integerOption('partitions', values.partitions);
const latencies = integerOption('latencies', values.latencies);
const memoryLimitMb = integerOption('memory-limit-mb', values['memory-limit-mb']);
const codec = CODECS.find((name) => name === values.codec);
if (codec === undefined) {
  process.stderr.write(`--codec: ${JSON.stringify(values.codec)} is none of ${CODECS.join(', ')}\n`);
  process.exit(2);
}

const say = (text: string): boolean => process.stderr.write(`${text}\n`);
const outside = process.env['KAFKA_BROKERS'];
const own = outside === undefined ? await startBroker() : null;
const brokers = own?.address ?? outside ?? '';
const dataDir = await mkdtemp(join(tmpdir(), 'shieldlog-bench-'));
try {
  const [backlog, fresh] = [uniqueName('backlog'), uniqueName('fresh')];
  await createTopic(brokers, backlog, partitions);
  await createTopic(brokers, fresh, 1);
  say(`generating ${events} events, unless they are there`);
  const { path, bytes } = await eventFile(benchOptions(events));
  say('producing them');
  await produceFile(brokers, backlog, path, codec);

  const started = Date.now();
  const now = (): number => BENCH_NOW_MS + Date.now() - started;
  const store = await openStore({ dataDir, memoryLimitMb, retentionMs: RETENTION_MS, now });
  const cpu = process.cpuUsage();
  const start = performance.now();
  const source = startKafkaSource({
    kafka: { brokers: brokers.split(','), tls: false, sasl: null },
    topics: [backlog, fresh],
    groupId: uniqueName('bench'),
    store,
    now,
    retentionMs: RETENTION_MS,
    logger: { ...silentLogger, warn: (_, message) => say(message), error: (_, message) => say(message) },
  });
  say('reading');
  const background = startBackgroundSearches(store);
  while (source.counters().messages === 0) {
    await delay(1);
  }
  const first = performance.now();
  while (store.stats().events < events) {
    await delay(5);
  }
  const end = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  const searchMs = await background.stop();
  const { batches, pauses } = source.counters();
  const peakRssBytes = process.resourceUsage().maxRSS * 1024;
  say('timing single events');
  const freshMs = await freshLatencies({ brokers, topic: fresh, store, now, count: latencies });
  await source.stop();
  await store.close();
  process.stdout.write(`${circumstances().replace(/bench\/main\.ts/, 'bench/kafka-speed.ts')}\n\n`);
  console.table({
    events: `${events} of ${Math.round(bytes / events)} bytes, ${codec}, ${partitions} partitions`,
    'events/s, broker to durable and searchable': Math.round(events / ((end - first) / 1000)),
    'from the start of the source to the first message, ms': Math.round(first - start),
    'CPU of the program, µs an event': ((user + system) / events).toFixed(1),
    'searches meanwhile, ms': `p50 ${Math.round(percentile(searchMs, 0.5))}, p95 ${Math.round(percentile(searchMs, 0.95))}`,
    'batches stored, pauses': `${batches}, ${pauses}`,
    'resident memory, peak, MiB': Math.round(peakRssBytes / 1024 / 1024),
    'produce to searchable, ms': `p50 ${Math.round(percentile(freshMs, 0.5))}, p99 ${Math.round(percentile(freshMs, 0.99))} (${freshMs.length} events)`,
  });
} finally {
  await rm(dataDir, { recursive: true, force: true });
  await own?.stop();
}
