import kafkajs from 'kafkajs';
import snappy from 'snappyjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { registerKafkaCodecs } from '../../../ingest/kafka/kafka-codecs.ts';
import { uncompressSnappy } from '../../../ingest/kafka/kafka-snappy.ts';

const TEXT = Buffer.from('{"logId":"a","action":"blocked"}\n'.repeat(2000));
const XERIAL_HEADER = Buffer.from('82534e41505059000000000100000001', 'hex');

function xerialBlock(plain: Buffer): Buffer {
  const compressed = snappy.compress(plain);
  const length = Buffer.alloc(4);
  length.writeInt32BE(compressed.byteLength);
  return Buffer.concat([length, compressed]);
}

describe('codecs', () => {
  beforeAll(registerKafkaCodecs);

  it.each(['GZIP', 'Snappy', 'LZ4', 'ZSTD'] as const)('%s gives back what it compressed', async (name) => {
    const codec = (kafkajs.CompressionCodecs as Record<number, () => Codec>)[kafkajs.CompressionTypes[name]]?.() as Codec;
    const compressed = await codec.compress({ buffer: TEXT });
    expect(compressed.byteLength).toBeLessThan(TEXT.byteLength / 4);
    expect(TEXT.equals(await codec.decompress(compressed))).toBe(true);
  });
});

describe('snappy in the framing of the Java client', () => {
  it('joins its blocks', () => {
    const framed = Buffer.concat([XERIAL_HEADER, xerialBlock(TEXT.subarray(0, 32_768)), xerialBlock(TEXT.subarray(32_768))]);
    expect(TEXT.equals(uncompressSnappy(framed))).toBe(true);
  });

  it('of no block is empty', () => {
    expect(uncompressSnappy(XERIAL_HEADER).byteLength).toBe(0);
  });

  it.each([
    ['a block that is cut off', Buffer.concat([XERIAL_HEADER, xerialBlock(TEXT)]).subarray(0, -1)],
    ['a block of negative length', Buffer.concat([XERIAL_HEADER, Buffer.from('ffffffff', 'hex')])],
  ])('refuses %s', (_name, bytes) => {
    expect(() => uncompressSnappy(bytes)).toThrow();
  });
});

interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}
