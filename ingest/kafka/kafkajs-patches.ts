import { createRequire } from 'node:module';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrameSync, decompressFrameSync } from 'lz4-napi';
import snappy from 'snappyjs';

interface KafkaCodec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}

/**
 * Adds the codecs that kafkajs lacks: snappy, lz4 and zstd. They run on the calling thread, because a batch takes only a millisecond, while
 * queries may hold all threads of libuv for seconds.
 */
export function registerKafkaCodecs(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  const codecs = CompressionCodecs as Record<number, () => KafkaCodec>;
  // A bare block of snappy is what every consumer reads.
  codecs[CompressionTypes.Snappy] = () => codec((plain) => snappy.compress(plain) as Buffer, uncompressSnappy);
  codecs[CompressionTypes.LZ4] = () => codec(compressFrameSync, decompressFrameSync);
  codecs[CompressionTypes.ZSTD] = () => codec(zstdCompressSync, zstdDecompressSync);
}

function codec(compress: (plain: Buffer) => Buffer, decompress: (compressed: Buffer) => Buffer): KafkaCodec {
  return {
    compress: async ({ buffer }) => compress(buffer),
    decompress: async (compressed) => decompress(compressed),
  };
}

/** The header of xerial, the Java client's framing of snappy: a magic of 8 bytes, then two int32 versions. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/**
 * Uncompresses snappy as Kafka's producers send it: Java's in xerial's framing (blocks, each after its length as a big-endian int32),
 * others as one bare block. Throws where the bytes are neither.
 */
export function uncompressSnappy(compressed: Buffer): Buffer {
  if (!XERIAL_MAGIC.equals(compressed.subarray(0, XERIAL_MAGIC.byteLength))) {
    return snappy.uncompress(compressed) as Buffer;
  }
  const blocks: Buffer[] = [];
  let offset = XERIAL_HEADER_BYTES;
  while (offset < compressed.byteLength) {
    const start = offset + 4;
    const end = start + compressed.readInt32BE(offset);
    if (end <= start || end > compressed.byteLength) {
      throw new RangeError(`a snappy block at byte ${offset} ends at byte ${end}, outside its ${compressed.byteLength} bytes`);
    }
    blocks.push(snappy.uncompress(compressed.subarray(start, end)) as Buffer);
    offset = end;
  }
  return blocks.length === 1 ? (blocks[0] as Buffer) : Buffer.concat(blocks);
}

/** Applies the patches of kafkajs 2.2.4 below, once in a process however often it is called. */
export function patchKafkajs(): void {
  mendRequestTimer();
  passOnEmptyBatches();
  dropAbortedMessages();
}

const WRAPPED = Symbol.for('shieldlog.kafkajs.wrapped');

/** Replaces a method of a class of kafkajs by what `wrap` makes of it, unless that has happened already. */
function wrapMethod<T extends object, K extends keyof T>(path: string, name: K, wrap: (original: T[K]) => T[K]): void {
  const { prototype } = createRequire(import.meta.url)(path) as { readonly prototype: T };
  const original = prototype[name] as T[K] & { readonly [WRAPPED]?: true };
  if (original[WRAPPED] !== true) {
    prototype[name] = Object.assign(wrap(original) as T[K] & object, { [WRAPPED]: true });
  }
}

/** The parts of kafkajs's `network/requestQueue` that the patch uses. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  scheduleCheckPendingRequests(): void;
}

/**
 * Stops a `TimeoutNegativeWarning` of Node 24. After every response, kafkajs arms a timer for requests that a throttle holds, with a
 * negative delay where there is no throttle. The patch arms it only where it is needed; a request that is held later arms it itself.
 */
function mendRequestTimer(): void {
  wrapMethod<RequestQueue, 'scheduleCheckPendingRequests'>(
    'kafkajs/src/network/requestQueue',
    'scheduleCheckPendingRequests',
    (schedule) =>
      function (this: RequestQueue) {
        if (this.pending.length > 0 || this.throttledUntil > Date.now()) {
          schedule.call(this);
        }
      },
  );
}

/** The parts of kafkajs's `consumer/runner` that the patch uses. */
interface Runner {
  readonly running: boolean;
  readonly eachBatch: object | null;
  handleBatch(batch: { isEmptyDueToFiltering(): boolean }): Promise<void>;
  processEachBatch(batch: object): Promise<void>;
  heartbeat(): Promise<void>;
}

/**
 * Passes a fetch that has only control records and aborted messages on to `eachBatch`, too. kafkajs moves its offset past such a fetch by
 * itself and tells nobody which offset that was fetched from, so a consumer that has gone back meanwhile cannot know that it is stale.
 */
function passOnEmptyBatches(): void {
  wrapMethod<Runner, 'handleBatch'>(
    'kafkajs/src/consumer/runner',
    'handleBatch',
    (handle) =>
      async function (this: Runner, batch) {
        if (this.running && this.eachBatch !== null && batch.isEmptyDueToFiltering()) {
          await this.processEachBatch(batch);
          await this.heartbeat();
        } else {
          await handle.call(this, batch);
        }
      },
  );
}

/** The parts of kafkajs's `broker` that the patch uses. */
interface Broker {
  fetch(request: object): Promise<{ readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[] }>;
}

interface FetchedPartition {
  readonly messages: readonly FetchedMessage[];
  /** Absent in the protocol before transactions. */
  abortedTransactions?: readonly AbortedTransaction[] | null;
}

interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  /** True of markers, and of what the patch drops. */
  isControlRecord?: boolean;
  /** Absent from messages of the format before transactions. */
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean };
}

interface AbortedTransaction {
  readonly producerId: string;
  /** The offset of its first message. */
  readonly firstOffset: string;
}

/**
 * Drops all messages of aborted transactions. kafkajs delivers some where transactions overlap: it takes the broker's list to be sorted by
 * first offset, though it is sorted by the marker at the end, and begins one transaction a message. It also takes a message for a marker
 * that has the key of one. The patch hides the list from it and marks the messages as control records, which kafkajs drops as well, and
 * still moves its offset past.
 */
function dropAbortedMessages(): void {
  wrapMethod<Broker, 'fetch'>(
    'kafkajs/src/broker',
    'fetch',
    (fetch) =>
      async function (this: Broker, request) {
        const fetched = await fetch.call(this, request);
        for (const partition of fetched.responses.flatMap(({ partitions }) => partitions)) {
          markAborted(partition.messages, partition.abortedTransactions ?? []);
          partition.abortedTransactions = [];
        }
        return fetched;
      },
  );
}

/** As Kafka's own consumer does in `CompletedFetch`: a transaction lasts from its first offset to the abort marker of its producer. */
function markAborted(messages: readonly FetchedMessage[], transactions: readonly AbortedTransaction[]): void {
  if (transactions.length === 0) {
    return;
  }
  const toBegin = transactions.map(({ producerId, firstOffset }) => ({ producerId, firstOffset: BigInt(firstOffset) }));
  // The last of the array begins first.
  toBegin.sort((left, right) => (left.firstOffset < right.firstOffset ? 1 : -1));
  const aborting = new Set<string>();
  for (const message of messages) {
    const offset = BigInt(message.offset);
    for (let first = toBegin.at(-1); first !== undefined && first.firstOffset <= offset; first = toBegin.at(-1)) {
      aborting.add(first.producerId);
      toBegin.pop();
    }
    const { batchContext } = message;
    if (batchContext === undefined || !aborting.has(batchContext.producerId)) {
      continue;
    }
    if (message.isControlRecord !== true) {
      message.isControlRecord = batchContext.inTransaction;
    } else if (isAbortMarker(message.key)) {
      aborting.delete(batchContext.producerId);
    }
  }
}

/** The key of a control record is a version and a type, both int16; type 0 is an abort, 1 a commit. */
function isAbortMarker(key: Buffer | null): boolean {
  return key !== null && key.byteLength >= 4 && key.readInt16BE(2) === 0;
}
