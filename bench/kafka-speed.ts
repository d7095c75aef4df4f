// Measures how fast a backlog in a local Kafka broker becomes durable and searchable, also with a search every 100 ms, and the time from
// the producer's call until a search finds a single event:
//   node bench/kafka-speed.ts [--events N] [--partitions N] [--codec none|gzip|snappy|lz4|zstd] [--memory-limit-mb N] [--latencies N]
// The broker is the one that KAFKA_BROKERS names, or one that is started from Docker or Maven's jars.
import { parseArgs } from 'node:util';
import { CODECS } from '../test/broker/foreign-producer.ts';
import { integerOption } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { measureKafka } from './subjects/measure-kafka.ts';

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

const text = await measureKafka({ events, partitions, codec, memoryLimitMb, latencies });
process.stdout.write(`${circumstancesText(circumstances({}))}\n\n${text}\n`);
