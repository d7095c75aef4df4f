import { createRequire } from 'node:module';
import { decodeRecordSet, type FetchedMessage, faultMessage } from './record-set.ts';
import { decodeMetadata, type MetadataRequest, metadataRequest, TOPIC_ID_VERSION } from './topic-metadata.ts';

/** Applies the patches of kafkajs 2.2.4 below, once in a process however often it is called. To be called before anything is fetched. */
export function patchKafkajs(): void {
  replaceDecoding();
  passOnCorruptMessages();
  mendRequestTimer();
  passOnEmptyBatches();
  dropAbortedMessages();
  askForTopicIds();
  beatAfterClockSteps();
}

const WRAPPED = Symbol.for('shieldlog.kafkajs.wrapped');

const require = createRequire(import.meta.url);

/** The part of kafkajs's `protocol/decoder` that the patch uses. */
interface ResponseDecoder {
  readInt32(): number;
  readBytes(size: number): Buffer;
}

/**
 * Decodes what was fetched by `decodeRecordSet`, in both modules that do so in kafkajs; they are loaded at the first fetch. kafkajs hands
 * the records of a batch to `push` as arguments, of which V8 takes some 120,000 (https://github.com/tulios/kafkajs/pull/1723), checks no
 * checksum, stops all topics at a batch that it cannot decode, and reads a batch whose last records are compacted away again and again
 * (https://github.com/tulios/kafkajs/issues/1072).
 */
function replaceDecoding(): void {
  for (const path of ['kafkajs/src/protocol/requests/fetch/v4/decodeMessages', 'kafkajs/src/protocol/messageSet/decoder']) {
    require(path);
    const loaded = require.cache[require.resolve(path)] as NodeJS.Module;
    loaded.exports = decodeFetched;
  }
}

async function decodeFetched(decoder: ResponseDecoder): Promise<FetchedMessage[]> {
  const size = decoder.readInt32();
  return size <= 0 ? [] : decodeRecordSet(decoder.readBytes(size));
}

/** The versions of a fetch that kafkajs speaks, and Kafka's code for a partition whose log is damaged on the disk of the broker. */
const FETCH_VERSIONS = 12;
const CORRUPT_MESSAGE = 2;

/** A module of kafkajs that reads the answer to a fetch, before it is checked for errors. */
interface FetchResponse {
  decode(bytes: Buffer): Promise<FetchedAnswer>;
}

interface FetchedAnswer {
  readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[];
}

/**
 * Lets one partition wait, and not all, where the broker itself finds a batch damaged. kafkajs fails the whole fetch at an error of any
 * partition; Kafka's own consumer names the partition (https://github.com/apache/kafka/pull/8111).
 */
function passOnCorruptMessages(): void {
  for (let version = 0; version < FETCH_VERSIONS; version++) {
    const response = require(`kafkajs/src/protocol/requests/fetch/v${version}/response`) as FetchResponse;
    const { decode } = response;
    if (WRAPPED in decode) continue;
    const decodeAll = async (bytes: Buffer): Promise<FetchedAnswer> => {
      const answer = await decode(bytes);
      for (const partition of answer.responses.flatMap(({ partitions }) => partitions)) {
        if (partition.errorCode !== CORRUPT_MESSAGE) continue;
        const reason = 'is damaged where the broker keeps it (CORRUPT_MESSAGE)';
        Object.assign(partition, { errorCode: 0, messages: [faultMessage({ reason, next: null, bytes: Buffer.alloc(0) })] });
      }
      return answer;
    };
    response.decode = Object.assign(decodeAll, { [WRAPPED]: true });
  }
}

/** Replaces a method of a class of kafkajs by what `wrap` makes of it, unless that has happened already. */
function wrapMethod<T extends object, K extends keyof T>(path: string, name: K, wrap: (original: T[K]) => T[K]): void {
  const { prototype } = require(path) as { readonly prototype: T };
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
  handleBatch(batch: { isEmpty(): boolean }): Promise<void>;
  processEachBatch(batch: object): Promise<void>;
  heartbeat(): Promise<void>;
}

/**
 * Passes a fetch without messages on to `eachBatch`, too. One that has only control records and aborted messages kafkajs moves its offset
 * past by itself and tells nobody which offset that was fetched from, so a consumer that has gone back meanwhile cannot know that it is
 * stale. One with nothing at all tells how far the partition can be read.
 */
function passOnEmptyBatches(): void {
  wrapMethod<Runner, 'handleBatch'>(
    'kafkajs/src/consumer/runner',
    'handleBatch',
    (handle) =>
      async function (this: Runner, batch) {
        if (this.running && this.eachBatch !== null && batch.isEmpty()) {
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
  fetch(request: object): Promise<FetchedAnswer>;
}

interface FetchedPartition {
  readonly errorCode: number;
  readonly messages: readonly FetchedMessage[];
  /** Absent in the protocol before transactions. */
  readonly lastStableOffset?: string;
  abortedTransactions?: readonly AbortedTransaction[] | null;
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
 * still moves its offset past. The last stable offset, which kafkajs drops with the rest of the answer, goes with the list of messages.
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
          Object.assign(partition.messages, { lastStableOffset: partition.lastStableOffset });
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

/** kafkajs's module `protocol/requests/metadata`, and those of its versions that answer. */
interface MetadataRequests {
  versions: readonly string[];
  protocol(choice: { readonly version: number }): (request: MetadataRequest) => object;
}

interface MetadataResponse {
  /** Throws where the answer has an error. */
  parse(answer: object): Promise<object>;
}

/**
 * Asks brokers that can tell them for the ids of topics (https://github.com/apache/kafka/pull/9622). kafkajs ends at a version of Metadata
 * without them, which is still asked of other brokers.
 */
function askForTopicIds(): void {
  const requests = require('kafkajs/src/protocol/requests/metadata') as MetadataRequests;
  const { versions, protocol } = requests;
  if (versions.includes(String(TOPIC_ID_VERSION))) return;
  const newest = Math.max(...versions.map(Number));
  const { parse } = require(`kafkajs/src/protocol/requests/metadata/v${newest}/response`) as MetadataResponse;
  const response = { decode: async (bytes: Buffer) => decodeMetadata(bytes), parse };
  requests.versions = [...versions, String(TOPIC_ID_VERSION)];
  requests.protocol = ({ version }) =>
    version === TOPIC_ID_VERSION
      ? (request) => ({ request: metadataRequest(request), response })
      : protocol({ version: Math.min(version, newest) });
}

/** The parts of kafkajs's `consumer/consumerGroup` that the patch uses. */
interface ConsumerGroup {
  /** Unix ms UTC. */
  lastRequest: number;
  heartbeat(request: { readonly interval: number }): Promise<void>;
}

/**
 * Goes on with heartbeats where the clock of this machine was set back. kafkajs sends the next one once the clock is an interval past the
 * last one, so after a step back by an hour none for an hour; the broker takes the member out of its group meanwhile, and refuses its
 * commits.
 */
function beatAfterClockSteps(): void {
  wrapMethod<ConsumerGroup, 'heartbeat'>(
    'kafkajs/src/consumer/consumerGroup',
    'heartbeat',
    (heartbeat) =>
      async function (this: ConsumerGroup, request) {
        if (this.lastRequest > Date.now()) this.lastRequest = 0;
        await heartbeat.call(this, request);
      },
  );
}
