import kafkajs, { type Producer } from 'kafkajs';
import type { Pack } from '../ingest/kafka/built-batch.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Sends the values as one record batch, which is packed by the function. The broker unpacks it, and so refuses what is quite broken. */
export async function sendPacked(
  producer: Producer,
  to: { readonly topic: string; readonly partition?: number },
  values: readonly Buffer[],
  codec: 'GZIP' | 'Snappy' | 'LZ4' | 'ZSTD',
  pack: Pack,
): Promise<void> {
  const { topic, partition = 0 } = to;
  const codecs = CompressionCodecs as Record<number, () => { compress(encoder: { readonly buffer: Buffer }): Promise<Buffer> }>;
  const compression = CompressionTypes[codec];
  codecs[compression] = () => ({ compress: async ({ buffer }) => pack(buffer) });
  await producer.send({ topic, acks: -1, compression, messages: values.map((value) => ({ value, partition })) });
}
