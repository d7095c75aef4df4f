import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { findKafka } from './kafka-distribution.ts';

export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Codec = (typeof CODECS)[number];

/** Which client that none of us wrote is used: kcat (librdkafka) where there is one, otherwise Kafka's own console producer (Java). */
async function foreignClient(): Promise<'kcat' | 'java'> {
  return await promisify(execFile)('kcat', ['-V']).then(
    () => 'kcat',
    () => 'java',
  );
}

/** Sends every line of a file as a message. Resolves once the broker has acknowledged them all. */
export async function produceFile(brokers: string, topic: string, file: string, codec: Codec, client?: 'kcat' | 'java'): Promise<void> {
  await produceLines(brokers, topic, createReadStream(file), codec, client);
}

/** Sends every line of a stream as a message. Resolves once the broker has acknowledged them all. */
export async function produceLines(brokers: string, topic: string, lines: Readable, codec: Codec, client?: 'kcat' | 'java'): Promise<void> {
  await produce({ brokers, topic, codec, inOneBatch: false }, lines, client);
}

/** The same, in one record batch. */
export async function produceOneBatch(brokers: string, topic: string, lines: Readable, codec: Codec): Promise<void> {
  await produce({ brokers, topic, codec, inOneBatch: true }, lines);
}

interface Production {
  readonly brokers: string;
  readonly topic: string;
  readonly codec: Codec;
  readonly inOneBatch: boolean;
}

async function produce(production: Production, lines: Readable, client?: 'kcat' | 'java'): Promise<void> {
  const chosen = client ?? (await foreignClient());
  const [command, args] = chosen === 'kcat' ? kcat(production) : await consoleProducer(production);
  const producer = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  const exit = once(producer, 'exit');
  await pipeline(lines, producer.stdin);
  const [code] = await exit;
  if (code !== 0) {
    throw new Error(`the producer ${chosen} ended with ${code}`);
  }
}

function kcat({ brokers, topic, codec, inOneBatch }: Production): [command: string, args: string[]] {
  const settings = inOneBatch
    ? ['message.max.bytes=100000000', 'batch.size=100000000', 'batch.num.messages=1000000', 'linger.ms=3000']
    : ['message.max.bytes=8000000'];
  const limits = [...settings, 'queue.buffering.max.messages=1000000'].flatMap((setting) => ['-X', setting]);
  return ['kcat', ['-q', '-b', brokers, '-t', topic, '-P', '-z', codec, ...limits]];
}

async function consoleProducer({ brokers, topic, codec, inOneBatch }: Production): Promise<[command: string, args: string[]]> {
  const settings = inOneBatch
    ? ['max.request.size=100000000', 'batch.size=100000000', 'linger.ms=3000', 'buffer.memory=200000000']
    : ['max.request.size=8000000', 'batch.size=262144', 'linger.ms=5'];
  const limits = settings.flatMap((limit) => ['--command-property', limit]);
  const { java, classPath } = await findKafka();
  return [
    java,
    [
      ...['-Xmx512m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', classPath, 'org.apache.kafka.tools.ConsoleProducer'],
      ...['--bootstrap-server', brokers, '--topic', topic, '--compression-codec', codec, ...limits],
    ],
  ];
}
