import { createRequire } from 'node:module';
import { crc32, gzipSync, zstdCompressSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';
import type { BatchFault, FetchedMessage } from '../../../ingest/kafka/record-set.ts';

/** kafkajs's own, byte by byte. */
const slowCrc32c = createRequire(import.meta.url)('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;

export const CODEC = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;

export type Pack = (plain: Buffer) => Buffer;

/** A xerial stream of snappy, in blocks of 32 KiB as Java's. */
export function xerial(plain: Buffer): Buffer {
  const pieces: Uint8Array[] = [Buffer.from('82534e41505059000000000100000001', 'hex')];
  for (let at = 0; at < plain.length; at += 32_768) {
    const block = snappy.compress(plain.subarray(at, at + 32_768));
    pieces.push(int32(block.length), block);
  }
  return Buffer.concat(pieces);
}

export const PACK = {
  gzip: (plain) => gzipSync(plain),
  snappy: (plain) => snappy.compress(plain),
  lz4: (plain) => compressFrameSync(plain),
  zstd: (plain) => zstdCompressSync(plain),
} as const satisfies Record<string, Pack>;

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** A number in zigzag form. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = ((value << 1) ^ (value >> 31)) >>> 0;
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return Buffer.from([...bytes, left]);
}

export interface BuiltRecord {
  readonly value: Buffer | null;
  readonly key?: Buffer;
  readonly headers?: readonly (readonly [name: string, value: Buffer | null])[];
  /** Default: the index. */
  readonly delta?: number;
}

const field = (bytes: Buffer | null): Buffer => (bytes === null ? varint(-1) : Buffer.concat([varint(bytes.length), bytes]));

export function builtRecord({ value, key, headers = [] }: BuiltRecord, delta: number): Buffer {
  const inside = [Buffer.from([0]), varint(0), varint(delta), field(key ?? null), field(value), varint(headers.length)];
  for (const [name, text] of headers) inside.push(field(Buffer.from(name)), field(text));
  const record = Buffer.concat(inside);
  return Buffer.concat([varint(record.length), record]);
}

export interface BuiltBatch {
  readonly base?: bigint;
  readonly records: readonly BuiltRecord[];
  readonly codec?: number;
  readonly pack?: Pack;
  readonly attributes?: number;
  /** Default: that of the last record. */
  readonly lastDelta?: number;
  readonly count?: number;
  readonly crc?: number;
}

/** A record batch of magic 2, byte by byte as https://kafka.apache.org/documentation/#recordbatch has it. */
export function builtBatch({ base = 0n, records, codec = 0, pack = (plain) => plain, ...header }: BuiltBatch): Buffer {
  const { attributes = 0, lastDelta = records.at(-1)?.delta ?? records.length - 1, count = records.length } = header;
  const plain = Buffer.concat(records.map((record, index) => builtRecord(record, record.delta ?? index)));
  const summed = Buffer.concat([
    Buffer.from([(codec | attributes) >> 8, codec | attributes]),
    int32(lastDelta),
    int64(0n),
    int64(0n),
    int64(7n),
    Buffer.from([0, 0]),
    int32(-1),
    int32(count),
    pack(plain),
  ]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(header.crc ?? slowCrc32c(summed) >>> 0);
  const rest = Buffer.concat([int32(0), Buffer.from([2]), crc, summed]);
  return Buffer.concat([int64(base), int32(rest.length), rest]);
}

/** A message of magic 0 or 1. */
export function builtMessage(magic: 0 | 1, offset: bigint, value: Buffer | null, codec = 0): Buffer {
  const time = magic === 0 ? Buffer.alloc(0) : int64(0n);
  const bytes = value === null ? int32(-1) : Buffer.concat([int32(value.length), value]);
  const summed = Buffer.concat([Buffer.from([magic, codec]), time, int32(-1), bytes]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(summed));
  return Buffer.concat([int64(offset), int32(summed.length + 4), crc, summed]);
}

/** The two halves of the plain bytes, each packed by itself. */
export function inHalves(pack: Pack): Pack {
  return (plain) => Buffer.concat([pack(plain.subarray(0, plain.length >> 1)), pack(plain.subarray(plain.length >> 1))]);
}

/** A skippable frame of zstd and lz4 (RFC 8878, 3.1.2). */
export const SKIPPABLE = Buffer.from('502a4d180400000061626364', 'hex');

/** Bytes of an answer of Kafka to a fetch of version 11: one topic, and the records of each of its partitions. */
export function builtFetchAnswer(topic: string, partitions: readonly { readonly set: Buffer; readonly errorCode?: number }[]): Buffer {
  const name = Buffer.from(topic);
  const pieces = [int32(0), Buffer.from([0, 0]), int32(0), int32(1), Buffer.from([0, name.length]), name, int32(partitions.length)];
  partitions.forEach(({ set, errorCode = 0 }, partition) => {
    pieces.push(int32(partition), Buffer.from([0, errorCode]), int64(1_000_000n), int64(1_000_000n), int64(0n), int32(0), int32(-1));
    pieces.push(int32(set.length), set);
  });
  return Buffer.concat(pieces);
}

/** A record as it was read. */
export interface ReadRecord {
  readonly offset: string;
  readonly value: string | null;
}

/** The records of the messages up to one that cannot be decoded, whose fault is the last of them; of control records the last offset. */
export function readAll(messages: readonly FetchedMessage[]): { records: ReadRecord[]; passed: string[]; fault: BatchFault | undefined } {
  const [records, passed]: [ReadRecord[], string[]] = [[], []];
  for (const { offset, isControlRecord, read } of messages) {
    const found = read();
    if ('reason' in found) return { records, passed, fault: found };
    passed.push(offset);
    if (isControlRecord) continue;
    const { base, bytes, count, deltas, starts, ends } = found;
    for (let index = 0; index < count; index++) {
      const start = starts[index] ?? -1;
      const value = start < 0 ? null : bytes.toString('latin1', start, ends[index]);
      records.push({ offset: String(base + BigInt(deltas[index] ?? 0)), value });
    }
  }
  return { records, passed, fault: undefined };
}
