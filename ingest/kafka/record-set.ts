import { crc32 } from 'node:zlib';
import { crc32c } from '@node-rs/crc32';
import type { PartitionRecords } from '../event/batch-builder.ts';
import { UnpackFailed, unpackRecords } from './record-codecs.ts';

interface BatchContext {
  readonly producerId: string;
  readonly inTransaction: boolean;
}

/** A record batch, a message of the formats before batches, or a control record, as the rest of kafkajs takes messages. */
export interface FetchedMessage {
  /** The last offset that it covers. */
  readonly offset: string;
  /** Of control records only: nobody reads the others. */
  readonly key: Buffer | null;
  /** True of what kafkajs drops, but still moves its offset past. */
  isControlRecord: boolean;
  /** Absent from messages of the formats before transactions. */
  readonly batchContext?: BatchContext;
  /** Unpacks the records, which are there until those of another batch are read. The messages behind a fault are not to be read. */
  readonly read: () => PartitionRecords | BatchFault;
}

/** A batch that cannot be decoded. */
export interface BatchFault {
  /** The end of a sentence about the batch. */
  readonly reason: string;
  /** The offset behind the batch's last one; null where its header does not tell for certain. */
  readonly next: bigint | null;
  /** The batch, or what came of it. */
  readonly bytes: Buffer;
}

/** Behind every message, so kafkajs takes it for part of any fetch. */
const FAULT_OFFSET = String(2n ** 63n - 1n);

/** The message that stands for a batch that cannot be decoded. */
export function faultMessage(fault: BatchFault): FetchedMessage {
  return { offset: FAULT_OFFSET, key: null, isControlRecord: false, read: () => fault };
}

const NOTHING = Buffer.alloc(0);

/** A batch of one record; `value` is null for a tombstone. */
export function oneRecord(offset: bigint, value: Buffer | null): PartitionRecords {
  const [start, end] = value === null ? [-1, -1] : [0, value.length];
  const places = { deltas: Int32Array.of(0), starts: Int32Array.of(start), ends: Int32Array.of(end) };
  return { base: offset, bytes: value ?? NOTHING, count: 1, ...places };
}

function singleMessage({ offset, value }: SingleMessage): FetchedMessage {
  return { offset: String(offset), key: null, isControlRecord: false, read: () => oneRecord(offset, value) };
}

function controlRecord(offset: bigint, key: Buffer | null, batchContext: BatchContext): FetchedMessage {
  return { offset: String(offset), key, isControlRecord: true, batchContext, read: () => oneRecord(offset, null) };
}

/** The bytes that every entry begins with: its first offset (or, before magic 2, its last), and the length of what follows. */
const PREFIX_BYTES = 12;
const MAGIC_AT = 16;
const MAGIC_BATCH = 2;
/** Where a batch has what, counted from its beginning. The checksum is of everything behind it. */
const [CRC_AT, ATTRIBUTES_AT, LAST_DELTA_AT, PRODUCER_AT, COUNT_AT, RECORDS_AT] = [17, 21, 23, 43, 57, 61];
const [CODEC_BITS, TRANSACTION_BIT, CONTROL_BIT] = [0x07, 0x10, 0x20];
/** The shortest message of the formats before batches. */
const MIN_MESSAGE_BYTES = 26;

/** What is wrong with a batch; the message is the end of a sentence about it. */
class Undecodable extends Error {
  /** Whether where the batch ends can be told all the same. */
  readonly endIsKnown: boolean;

  constructor(message: string, { endIsKnown = true } = {}) {
    super(message);
    this.endIsKnown = endIsKnown;
  }
}

/**
 * Decodes the record batches of a fetched partition (https://kafka.apache.org/documentation/#recordbatch), or messages of the two formats
 * before. The last batch may be cut off, and is then left out. A batch is unpacked when it is read. At the first one whose header or
 * checksum is wrong the messages end with a `faultMessage`.
 */
export function decodeRecordSet(set: Buffer): FetchedMessage[] {
  const messages: FetchedMessage[] = [];
  for (let at = 0; at < set.length; ) {
    const end = endOfEntry(set, at);
    if (end === null && at > 0) break;
    const entry = set.subarray(at, end ?? set.length);
    try {
      if (end === null) throw new Undecodable(cutOff(entry), { endIsKnown: false });
      if (entry.readInt8(MAGIC_AT) === MAGIC_BATCH) decodeBatch(set, entry, messages);
      else for (const single of decodeMessage(entry, unpackMessages)) messages.push(singleMessage(single));
      at = end;
    } catch (error) {
      messages.push(faultMessage(faultOf(error, set, entry)));
      break;
    }
  }
  return messages;
}

/** Where the entry ends that begins at `at`; null where it is cut off. */
function endOfEntry(set: Buffer, at: number): number | null {
  if (set.length - at <= MAGIC_AT) return null;
  const end = at + PREFIX_BYTES + set.readInt32BE(at + 8);
  // A length that is too short is told with the batch.
  return end > set.length ? null : Math.max(end, at + MAGIC_AT + 1);
}

function cutOff(entry: Buffer): string {
  return entry.length <= MAGIC_AT
    ? `has only ${entry.length} bytes`
    : `has ${PREFIX_BYTES + entry.readInt32BE(8)} bytes by its header, of which ${entry.length} came`;
}

function faultOf(error: unknown, set: Buffer, entry: Buffer): BatchFault {
  const isEndKnown = !(error instanceof Undecodable) || error.endIsKnown;
  return { reason: reasonOf(error), next: isEndKnown ? nextOffset(set, entry) : null, bytes: entry };
}

function reasonOf(error: unknown): string {
  const { message } = error as Error;
  return error instanceof Undecodable || error instanceof UnpackFailed ? message : `cannot be decoded: ${message}`;
}

/** The offset behind the entry by its header, and by what follows it; null where they do not fit together. */
function nextOffset(set: Buffer, entry: Buffer): bigint | null {
  const isBatch = entry.readInt8(MAGIC_AT) === MAGIC_BATCH;
  const next = entry.readBigInt64BE(0) + BigInt(isBatch ? entry.readInt32BE(LAST_DELTA_AT) : 0) + 1n;
  const end = entry.byteOffset - set.byteOffset + entry.length;
  const follows = set.length - end >= 8 ? set.readBigInt64BE(end) : null;
  return follows !== null && follows < next ? null : next;
}

function decodeBatch(set: Buffer, batch: Buffer, messages: FetchedMessage[]): void {
  if (batch.length < RECORDS_AT)
    throw new Undecodable(`has ${batch.length} bytes; at least ${RECORDS_AT} are needed`, { endIsKnown: false });
  const count = batch.readInt32BE(COUNT_AT);
  const lastDelta = batch.readInt32BE(LAST_DELTA_AT);
  // A header may be damaged, too. Two of its numbers that fit together are not.
  checkSum('CRC-32C', batch.readUInt32BE(CRC_AT), crc32c(batch.subarray(ATTRIBUTES_AT)), { endIsKnown: count === lastDelta + 1 });
  if (lastDelta < 0) throw new Undecodable(`ends ${-lastDelta} before its first offset`, { endIsKnown: false });
  if (count < 0) throw new Undecodable(`has ${count} records`);
  const attributes = batch.readInt16BE(ATTRIBUTES_AT);
  const base = batch.readBigInt64BE(0);
  const last = base + BigInt(lastDelta);
  const batchContext = { producerId: String(batch.readBigInt64BE(PRODUCER_AT)), inTransaction: (attributes & TRANSACTION_BIT) !== 0 };
  if ((attributes & CONTROL_BIT) !== 0) {
    const keys: (Buffer | null)[] = [];
    const { deltas } = readRecords(batch, keys);
    messages.push(...keys.map((key, index) => controlRecord(base + BigInt(deltas[index] as number), key, batchContext)));
    // Compaction may have removed the last ones.
    messages.push(controlRecord(last, null, batchContext));
    return;
  }
  const read = (): PartitionRecords | BatchFault => {
    try {
      return readRecords(batch);
    } catch (error) {
      return faultOf(error, set, batch);
    }
  };
  messages.push({ offset: String(last), key: null, isControlRecord: false, batchContext, read });
}

function checkSum(name: string, told: number, found: number, { endIsKnown = true } = {}): void {
  if (told === found) return;
  const shown = (sum: number): string => sum.toString(16).padStart(8, '0');
  throw new Undecodable(`is damaged: its ${name} is ${shown(found)} and not ${shown(told)}, as its header has it`, { endIsKnown });
}

/** Reads the records of a batch whose checksum is right, with their keys where these are wanted. Throws Undecodable and UnpackFailed. */
function readRecords(batch: Buffer, keys: (Buffer | null)[] | null = null): PartitionRecords {
  const [base, lastDelta, count] = [batch.readBigInt64BE(0), batch.readInt32BE(LAST_DELTA_AT), batch.readInt32BE(COUNT_AT)];
  const codec = batch.readInt16BE(ATTRIBUTES_AT) & CODEC_BITS;
  const packed = batch.subarray(RECORDS_AT);
  const bytes = codec === 0 || count === 0 ? packed : unpackRecords(codec, packed);
  const reader = new RecordReader(bytes);
  let before = -1;
  for (let index = 0; index < count; index++) {
    const delta = reader.read(index, keys);
    if (delta <= before || delta > lastDelta) {
      throw new Undecodable(
        `has a record ${index} at offset ${base + BigInt(delta)}, outside ${base + BigInt(before + 1)} to ${base + BigInt(lastDelta)}`,
      );
    }
    before = delta;
  }
  if (count > 0) reader.expectEnd();
  return { base, bytes, count, deltas: places.deltas, starts: places.starts, ends: places.ends };
}

/** Where the values of so many records are is kept for the next batch; the largest batches have many more. */
const USUAL_RECORDS = 16_384;

const noPlaces = (count: number) => ({ deltas: new Int32Array(count), starts: new Int32Array(count), ends: new Int32Array(count) });

/** Where the values of the batch are that was read last. */
let places = noPlaces(USUAL_RECORDS);

function largerPlaces(): typeof places {
  const larger = noPlaces(2 * places.deltas.length);
  larger.deltas.set(places.deltas);
  larger.starts.set(places.starts);
  larger.ends.set(places.ends);
  return larger;
}

/** Reads records one after the other. Each must end where its length says. Throws Undecodable. */
class RecordReader {
  readonly #bytes: Buffer;
  #at = 0;
  #index = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    if (places.deltas.length > USUAL_RECORDS) places = noPlaces(USUAL_RECORDS);
  }

  /** Notes where the value is, and returns the offset that counts from the batch's first. */
  read(index: number, keys: (Buffer | null)[] | null): number {
    this.#index = index;
    const length = this.#varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length)
      throw this.#wrong(`has ${length} bytes of the ${this.#bytes.length - this.#at} that are left`);
    // Attributes, which have no meaning yet.
    this.#at += 1;
    this.#passVarlong();
    const delta = this.#varint();
    const keyStart = this.#field();
    keys?.push(keyStart < 0 ? null : Buffer.from(this.#bytes.subarray(keyStart, this.#at)));
    if (index === places.deltas.length) places = largerPlaces();
    places.deltas[index] = delta;
    places.starts[index] = this.#field();
    places.ends[index] = this.#at;
    const headers = this.#varint();
    if (headers < 0) throw this.#wrong(`has ${headers} headers`);
    for (let header = 0; header < headers && this.#at <= end; header++) {
      this.#field();
      this.#field();
    }
    if (this.#at !== end) throw this.#wrong('does not end where its length says');
    return delta;
  }

  expectEnd(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw new Undecodable(`has ${left} bytes behind its ${this.#index + 1} records`);
  }

  /** Passes bytes behind their length. Returns where they begin; -1 where there are none, and their length says so. */
  #field(): number {
    const length = this.#varint();
    const start = this.#at;
    this.#at += Math.max(length, 0);
    if (length < -1 || this.#at > this.#bytes.length) throw this.#wrong(`has a field of ${length} bytes`);
    return length < 0 ? -1 : start;
  }

  /** A number of 32 bits in zigzag form. */
  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
    throw this.#wrong('has a number of more than 32 bits');
  }

  #passVarlong(): void {
    for (let index = 0; index < 10; index++) {
      if (this.#byte() < 0x80) return;
    }
    throw this.#wrong('has a time of more than 64 bits');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw this.#wrong('is cut off');
    return byte;
  }

  #wrong(what: string): Undecodable {
    return new Undecodable(`has a record ${this.#index} that ${what}`);
  }
}

interface SingleMessage {
  readonly offset: bigint;
  readonly value: Buffer | null;
}

/** Decodes a message of magic 0 or 1, which may hold further ones that are packed together. */
function decodeMessage(entry: Buffer, unpack: typeof unpackMessages): readonly SingleMessage[] {
  const magic = entry.readInt8(MAGIC_AT);
  if (magic !== 0 && magic !== 1) throw new Undecodable(`has the magic ${magic}; allowed: 0 to ${MAGIC_BATCH}`, { endIsKnown: false });
  if (entry.length < MIN_MESSAGE_BYTES)
    throw new Undecodable(`has ${entry.length} bytes; at least ${MIN_MESSAGE_BYTES} are needed`, { endIsKnown: false });
  checkSum('CRC-32', entry.readUInt32BE(PREFIX_BYTES), crc32(entry.subarray(MAGIC_AT)));
  const offset = entry.readBigInt64BE(0);
  // Magic 1 has a time of 8 bytes in front of the key.
  const keyAt = MAGIC_AT + 2 + (magic === 0 ? 0 : 8);
  const valueAt = keyAt + 4 + Math.max(entry.readInt32BE(keyAt), 0);
  const length = entry.readInt32BE(valueAt);
  const end = valueAt + 4 + Math.max(length, 0);
  if (end !== entry.length) throw new Undecodable('has a message that does not end where its length says');
  const value = length < 0 ? null : entry.subarray(valueAt + 4, end);
  const codec = entry.readInt8(MAGIC_AT + 1) & CODEC_BITS;
  return codec === 0 ? [{ offset, value }] : unpack(codec, value, { offset, isRelative: magic === 1 });
}

/** The offset of packed messages is that of the last. With magic 1 theirs count from the first, and with magic 0 they are their own. */
function unpackMessages(
  codec: number,
  value: Buffer | null,
  { offset, isRelative }: { readonly offset: bigint; readonly isRelative: boolean },
): readonly SingleMessage[] {
  const set = Buffer.from(unpackRecords(codec, value ?? NOTHING));
  const inner: SingleMessage[] = [];
  for (let at = 0; at < set.length; ) {
    const end = endOfEntry(set, at);
    if (end === null) throw new Undecodable(`has a message that ${cutOff(set.subarray(at))}`);
    for (const message of decodeMessage(set.subarray(at, end), refusePacked)) inner.push(message);
    at = end;
  }
  const last = inner.at(-1);
  if (last === undefined) throw new Undecodable('has no messages');
  const base = isRelative ? offset - last.offset : 0n;
  return inner.map((message) => ({ offset: base + message.offset, value: message.value }));
}

function refusePacked(): never {
  throw new Undecodable('has packed messages within packed messages');
}
