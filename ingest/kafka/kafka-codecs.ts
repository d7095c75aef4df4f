import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrameSync, decompressFrameSync } from 'lz4-napi';
import { compressSnappy, uncompressSnappy } from './kafka-snappy.ts';

interface KafkaCodec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}

/**
 * Gives kafkajs the codecs that it lacks: snappy, lz4, zstd (gzip and none are its own). They run on the calling thread on purpose: a batch
 * takes a millisecond, while libuv's threads may all be held by queries for seconds.
 */
export function registerKafkaCodecs(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  const codecs = CompressionCodecs as Record<number, () => KafkaCodec>;
  codecs[CompressionTypes.Snappy] = () => codec(compressSnappy, uncompressSnappy);
  codecs[CompressionTypes.LZ4] = () => codec(compressFrameSync, decompressFrameSync);
  codecs[CompressionTypes.ZSTD] = () => codec(zstdCompressSync, zstdDecompressSync);
}

function codec(compress: (plain: Buffer) => Buffer, decompress: (compressed: Buffer) => Buffer): KafkaCodec {
  return {
    compress: async ({ buffer }) => compress(buffer),
    decompress: async (compressed) => decompress(compressed),
  };
}
