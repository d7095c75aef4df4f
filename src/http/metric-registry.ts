import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';
import { STORED_TEXT_BYTES } from '../../query/text-bytes.ts';
import { ANSWER_MS, sharedAnswer } from '../../store/data-folder.ts';
import type { EventStore, StoreStats, StoreTotals } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';

const STORE_TOTALS: readonly (readonly [name: string, help: string, read: (counters: StoreTotals) => number])[] = [
  ['shieldlog_stored_events_total', 'Events ever stored', ({ storedEvents }) => storedEvents],
  ['shieldlog_expired_events_total', 'Events that were older than the retention when they arrived', ({ expiredEvents }) => expiredEvents],
  ['shieldlog_duplicate_events_total', 'Events dropped because their logId was stored already', ({ duplicateEvents }) => duplicateEvents],
  [
    'shieldlog_late_events_total',
    'Events that readers of the feed miss, because the clock of ClickHouse stepped back while they were being stored',
    ({ lateEvents }) => lateEvents,
  ],
];

const STORE_LEVELS: readonly (readonly [name: string, help: string, read: (stats: StoreStats) => number])[] = [
  ['shieldlog_events', 'Events kept now', ({ events }) => events],
  ['shieldlog_memtable_events', 'Events kept in memory, not yet in a segment', ({ unflushedEvents }) => unflushedEvents],
  ['shieldlog_segments', 'Segment files', ({ segments }) => segments],
  ['shieldlog_segment_bytes', 'Size of the segment files', ({ segmentBytes }) => segmentBytes],
  ['shieldlog_journal_bytes', 'Size of the journal files', ({ journalBytes }) => journalBytes],
  [
    'shieldlog_unreadable_events',
    'Events at most that cannot be read, because their files are damaged or missing',
    ({ unreadableEvents }) => unreadableEvents,
  ],
  [
    'shieldlog_store_clock_behind_seconds',
    'How far the clock of a node of ClickHouse is behind that of another; 0 below a second',
    ({ clockBehindMs }) => clockBehindMs / 1000,
  ],
  ['shieldlog_dead_letters', 'Messages kept that could not become events', ({ deadLetters }) => deadLetters],
];

const REPAIRED =
  'were stored with U+FFFD for bytes that are no UTF-8 or halves of surrogate pairs, or with an ip that lost a port or blanks around it';

const CUT = `are stored by their first ${STORED_TEXT_BYTES / 1024} KiB`;

const UNKNOWN_IP = 'whose ip is a text that is neither an address nor a network, so that no search for addresses finds them';

type KafkaCounters = ReturnType<KafkaSource['counters']>;

const KAFKA_TOTALS: readonly (readonly [name: string, help: string, read: (counters: KafkaCounters) => number])[] = [
  ['shieldlog_kafka_messages_total', 'Messages consumed', ({ messages }) => messages],
  ['shieldlog_kafka_batches_total', 'Batches consumed', ({ batches }) => batches],
  [
    'shieldlog_kafka_out_of_range_offsets_total',
    'Stored offsets that the topic no longer has; reading went on from the earliest',
    ({ outOfRangeOffsets }) => outOfRangeOffsets,
  ],
  ['shieldlog_kafka_reconnects_total', 'Times the connection was lost and sought again', ({ reconnects }) => reconnects],
  ['shieldlog_kafka_repaired_events_total', `Messages that ${REPAIRED}`, ({ repairedEvents }) => repairedEvents],
  ['shieldlog_kafka_cut_texts_total', `Texts of messages that ${CUT}`, ({ cutTexts }) => cutTexts],
  ['shieldlog_kafka_unknown_ips_total', `Messages ${UNKNOWN_IP}`, ({ unknownIps }) => unknownIps],
  [
    'shieldlog_kafka_tombstones_total',
    'Messages without a value, which are neither events nor dead letters',
    ({ tombstones }) => tombstones,
  ],
  ['shieldlog_kafka_pauses_total', 'Times a partition was paused because the store was behind', ({ pauses }) => pauses],
];

/** What is read at a request of `/metrics`; undefined where it cannot be told, so that the metric has no value. */
type ReadNumber = () => number | undefined | Promise<number | undefined>;

/** A counter whose total is kept elsewhere and read at each request of `/metrics`. */
export function totalRead(registry: Registry, name: string, help: string, read: ReadNumber): void {
  new Counter({
    name,
    help,
    registers: [registry],
    async collect() {
      const total = await read();
      this.remove();
      if (total !== undefined) this.inc(total);
    },
  });
}

/** A gauge whose level is kept elsewhere and read at each request of `/metrics`. */
export function levelRead(registry: Registry, name: string, help: string, read: ReadNumber): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const level = await read();
      if (level === undefined) this.remove();
      else this.set(level);
    },
  });
}

/** The offset that each partition waits at where a batch cannot be decoded. A partition that is read has none. */
function blockedRead(registry: Registry, kafka: KafkaSource): void {
  new Gauge({
    name: 'shieldlog_kafka_blocked_offset',
    help: 'The offset of a batch that cannot be decoded, at which its partition waits; other partitions have none',
    labelNames: ['topic', 'partition'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { topic, partition, offset } of kafka.blocked()) this.set({ topic, partition: String(partition) }, Number(offset));
    },
  });
}

/** Metrics that are collected at the same time share it. Undefined where what the store is on cannot be asked, or does not answer soon. */
async function statsOf(store: EventStore): Promise<StoreStats | undefined> {
  try {
    return await store.stats();
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'unavailable' || error.code === 'overloaded')) return undefined;
    throw error;
  }
}

/** A counter that is added to. */
export function counterIn<Label extends string>(registry: Registry, name: string, help: string, ...labelNames: Label[]): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

/**
 * Event-loop lag, process memory and CPU, garbage collection. The apps of a process share these metrics: the library never takes its
 * observers of garbage collection down, so that each would keep the app that it was made for.
 */
const ofProcess = new Registry();

/** The registry of `/metrics`, and the instruments that routes write to. */
export type Metrics = Readonly<ReturnType<typeof createMetrics>>;

/** Each app has a registry of its own. */
export function createMetrics({ store, kafka }: { readonly store: EventStore; readonly kafka: KafkaSource | null }) {
  if (ofProcess.getMetricsAsArray().length === 0) collectDefaultMetrics({ register: ofProcess });
  const registry = Registry.merge([ofProcess]);
  const stats = sharedAnswer(() => statsOf(store), undefined, ANSWER_MS);
  const ofStore = (read: (stats: StoreStats) => number) => async () => {
    const found = await stats();
    return found && read(found);
  };
  for (const [name, help, read] of STORE_TOTALS) {
    totalRead(registry, name, help, async () => {
      // Looking at what there is counts what has come late.
      await stats();
      return read(store.counters());
    });
  }
  for (const [name, help, read] of STORE_LEVELS) levelRead(registry, name, help, ofStore(read));
  const reachable = '1 while the database that the events are in can be asked; metrics that come from it have no value otherwise';
  levelRead(registry, 'shieldlog_store_reachable', reachable, async () => ((await stats()) === undefined ? 0 : 1));
  levelRead(registry, 'shieldlog_pending_bytes', 'Bytes taken in that are not yet searchable', () => store.pendingBytes());
  if (kafka !== null) {
    for (const [name, help, read] of KAFKA_TOTALS) totalRead(registry, name, help, () => read(kafka.counters()));
    levelRead(registry, 'shieldlog_kafka_lag_messages', 'Messages that the brokers have and that are not read yet', () => kafka.lag());
    blockedRead(registry, kafka);
    levelRead(registry, 'shieldlog_kafka_ready', '1 while Kafka is being consumed', () => (kafka.reasonsNotReady().length === 0 ? 1 : 0));
  }
  const counter = <Label extends string>(name: string, help: string, ...labels: Label[]): Counter<Label> =>
    counterIn(registry, name, help, ...labels);
  /** How many of those from Kafka the counter has: their totals are kept elsewhere. */
  const toldOfKafka = new Map<string, number>();
  return {
    registry,
    searchSeconds: new Histogram({
      name: 'shieldlog_search_seconds',
      help: 'Time a search took in the store',
      labelNames: ['output', 'outcome'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    }),
    receivedEvents: counter('shieldlog_received_events_total', 'Events that arrived over HTTP', 'source', 'verdict'),
    repairedEvents: counter('shieldlog_repaired_events_total', `Events that arrived over HTTP and ${REPAIRED}`, 'source'),
    mappedRecords: new Counter({
      name: 'shieldlog_mapped_records_total',
      help: 'Records of other products that a mapping made events of, or did not',
      labelNames: ['mapping', 'verdict'],
      registers: [registry],
      collect() {
        for (const [mapping, counts] of kafka?.counters().mappedRecords ?? []) {
          for (const [kind, records] of Object.entries(counts)) {
            const verdict = kind === 'leftOut' ? 'left_out' : kind;
            const told = `${mapping} ${verdict}`;
            this.inc({ mapping, verdict }, records - (toldOfKafka.get(told) ?? 0));
            toldOfKafka.set(told, records);
          }
        }
      },
    }),
    cutTexts: counter('shieldlog_cut_texts_total', `Texts of events that arrived over HTTP and ${CUT}`, 'source'),
    unknownIps: counter('shieldlog_unknown_ips_total', `Events that arrived over HTTP and ${UNKNOWN_IP}`, 'source'),
    doorRequests: counter(
      'shieldlog_door_requests_total',
      "Requests of other products' shippers, by the door that they came to and the status that they were answered with",
      'door',
      'status',
    ),
    feedEvents: counter('shieldlog_feed_events_total', 'Events that went out by the feed', 'format'),
    feedLongLines: counter(
      'shieldlog_feed_long_lines_total',
      'Events that went out by the feed without their log, in a line within maxLine (shortened) or in a longer one (too_long)',
      'sent',
    ),
  };
}
