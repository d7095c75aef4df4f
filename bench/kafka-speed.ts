// Measures how fast a backlog in a local Kafka broker becomes durable and searchable, also with a search every 100 ms, and the time from
// the producer's call until a search finds a single event:
//   node bench/kafka-speed.ts [--events N] [--partitions N] [--codec none|gzip|snappy|lz4|zstd] [--memory-limit-mb N] [--latencies N]
// The broker is the one that KAFKA_BROKERS names, or one that is started from Docker or Maven's jars.
import { CODECS } from '../test/broker/foreign-producer.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { measureKafka } from './subjects/measure-kafka.ts';

const {
  codec: codecName,
  'memory-limit-mb': memoryLimitMb,
  ...backlog
} = givenOptions({
  events: 1_000_000,
  partitions: 4,
  codec: 'lz4',
  latencies: 100,
  'memory-limit-mb': 1_024,
});
const codec = CODECS.find((name) => name === codecName);
if (codec === undefined) {
  process.stderr.write(`--codec: ${JSON.stringify(codecName)} is none of ${CODECS.join(', ')}\n`);
  process.exit(2);
}

const text = await measureKafka({ ...backlog, codec, memoryLimitMb });
process.stdout.write(`${circumstancesText(circumstances({}))}\n\n${text}\n`);
