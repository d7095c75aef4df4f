import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';
import snappy from 'snappyjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { patchKafkajs, registerKafkaCodecs, uncompressSnappy } from '../../../ingest/kafka/kafkajs-patches.ts';

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

interface Queue {
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  maybeThrottle(ms: number): void;
  checkPendingRequests(): void;
  destroy(): void;
}

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (options: object) => Queue;

it('kafkajs arms its throttle timer only when it is throttled, and never with a negative delay', () => {
  patchKafkajs();
  patchKafkajs();
  const silent = () => silentLog;
  const silentLog = { namespace: silent, debug: silent };
  const queue = new RequestQueue({ requestTimeout: 1000, clientId: 'test', broker: 'test:1', logger: silentLog, isConnected: () => true });
  try {
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).toBeNull();
    queue.maybeThrottle(60_000);
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
  } finally {
    queue.destroy();
  }
});
