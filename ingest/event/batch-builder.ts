import { createHash } from 'node:crypto';
import { behindNuls } from '../../query/json-bytes.ts';
import { type DeadLetter, memoryOfLetter } from '../../store/dead-letter.ts';
import type { EventBatch, SourceOffset } from '../../store/event-store.ts';
import { EventCollector } from './event-collector.ts';
import { EventConverter } from './event-converter.ts';
import type { RecordValues } from './event-kernel.ts';
import { type EventRules, type EventVerdict, LARGEST_EVENT_BYTES } from './event-verdict.ts';
import { type MessagePlace, messageLogId } from './log-id.ts';
import { KEPT_START_BYTES, LongPiece } from './partial-event.ts';
import { textStart } from './stored-text.ts';

/** A message in Kafka; the offset moves on with the messages of its partition. */
interface Message {
  readonly topic: string;
  readonly partition: number;
  offset: bigint;
  topicId: string | undefined;
}

/** Messages of a partition of Kafka. */
export interface PartitionRecords extends RecordValues {
  readonly base: bigint;
  /** The offset of each message, counted from `base`. */
  readonly deltas: Int32Array;
}

/** A message of Kafka that is no event, or, with its index, one of several events of it. */
export interface RejectedMessage {
  readonly bytes: Uint8Array | LongPiece;
  readonly index: number | null;
  readonly reason: string;
  /** The zone that it would be in; null where none can be read. */
  readonly zoneId: number | null;
  /** By which it was to become an event; null or absent: by none. */
  readonly mapping?: string | null;
}

/** A batch that has so many bytes is stored. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

const NO_VALUE: EventVerdict = { kind: 'rejected', reason: 'the message has an empty value: a JSON object is required', zoneId: null };
const NO_MESSAGE: Message = { topic: '', partition: -1, offset: 0n, topicId: undefined };

/** Collects raw events into a batch for the store: good ones as columns and packed logs, bad ones as dead letters, old ones as a count. */
export class BatchBuilder {
  /** Adds the accepted events. Usual ones may be given to it as the lines that they stand on. */
  readonly converter: EventConverter;
  readonly #events = new EventCollector();
  #expiredCount = 0;
  #deadLetters: DeadLetter[] = [];
  #deadLetterBytes = 0;
  /** The last message of each partition, by topic and partition. */
  #lastMessages = new Map<string, Map<number, Message>>();
  #message: Message = NO_MESSAGE;
  readonly #sourceId = () => messageLogId(this.#message, null);

  constructor(options: EventRules) {
    this.converter = new EventConverter(options, this.#events);
  }

  /** A message of any kind moves the partition's source offset past it. The caller deals with a rejected one. The bytes are copied. */
  tryKafkaMessage(topic: string, partition: number, offset: bigint, value: Uint8Array): EventVerdict {
    this.#moveTo(topic, partition, offset);
    return value.length === 0 ? NO_VALUE : this.#convertMessage(value, this.#sourceId);
  }

  /**
   * Adds the usual events among the messages of a partition, in the order of their offsets, from an index on. Returns the index of the
   * first message that it does not add: `tryKafkaMessage` is for that one. Moves the partition's source offset past the others.
   */
  convertRecords(topic: string, partition: number, records: PartitionRecords, from: number): number {
    const offsetOf = (index: number) => records.base + BigInt(records.deltas[index]!);
    const sourceId = (index: number) => messageLogId({ topic, partition, offset: offsetOf(index) }, null);
    const stopped = this.converter.convertRecords(records, from, sourceId);
    if (stopped > from) {
      this.#moveTo(topic, partition, offsetOf(stopped - 1));
    }
    return stopped;
  }

  /**
   * As `tryKafkaMessage`, for one of several events of a message, which has the index of it, or for a message of which an earlier dead
   * letter was kept: neither moves a source offset.
   */
  tryMessageAt(place: MessagePlace, index: number | null, bytes: Uint8Array): EventVerdict {
    const sourceId = () => messageLogId(place, index);
    return index === null ? this.#convertMessage(bytes, sourceId) : this.#count(this.converter.convert(bytes, sourceId));
  }

  /** Keeps a message, or one of several events of it, that is no event, with the zone that it would be in. The bytes are copied. */
  rejectMessage({ topic, partition, offset }: MessagePlace, { bytes, ...rejected }: RejectedMessage): void {
    this.#addDeadLetter({ ...kept(bytes), ...rejected, source: 'kafka', topic, partition, offset });
  }

  /** Keeps the bytes of a batch of messages that cannot be decoded. The bytes are copied. */
  rejectKafkaBatch(topic: string, partition: number, offset: bigint, bytes: Uint8Array, reason: string): void {
    this.#addDeadLetter({ ...kept(bytes), isBatch: true, reason, zoneId: null, source: 'kafka', topic, partition, offset });
  }

  /** Agents send the lines of a log that was cut with the NULs before them. */
  #convertMessage(value: Uint8Array, sourceId: () => string): EventVerdict {
    const event = value[0] === 0 ? value.subarray(behindNuls(value)) : value;
    return this.#count(this.converter.convert(event, sourceId));
  }

  /** An event that has no offset in a source. The bytes are copied. */
  addEvent(source: 'http' | 'file', bytes: Uint8Array): EventVerdict {
    const verdict = this.tryEvent(bytes);
    if (verdict.kind === 'rejected') {
      this.reject(source, bytes, verdict.reason, verdict.zoneId);
    }
    return verdict;
  }

  /** The same, but the caller deals with a rejected one. */
  tryEvent(bytes: Uint8Array): EventVerdict {
    return this.#count(this.converter.convert(bytes, null));
  }

  /** Keeps bytes that are no event, also by a mapping where one is named, with the zone that it would be in. The bytes are copied. */
  reject(source: 'http' | 'file', bytes: Uint8Array | LongPiece, reason: string, zoneId: number | null, mapping?: string): void {
    const by = mapping === undefined ? {} : { mapping };
    this.#addDeadLetter({ ...kept(bytes), reason, zoneId, source, ...by, topic: null, partition: null, offset: null });
  }

  /** Records that a source has been read up to here, whether or not there were events, and which topic of this name it is, where known. */
  moveTo(topic: string, partition: number, nextOffset: bigint, topicId?: string): void {
    this.#moveTo(topic, partition, nextOffset - 1n);
    this.#message.topicId = topicId;
  }

  /** Accepted events. */
  get eventCount(): number {
    return this.converter.eventCount;
  }

  /** Memory that the batch holds: columns, logs and dead letters. */
  get byteLength(): number {
    return this.converter.byteLength + this.#deadLetterBytes;
  }

  /** Nothing would be lost if the batch were not appended. */
  get isEmpty(): boolean {
    return this.eventCount === 0 && this.#expiredCount === 0 && this.#deadLetters.length === 0 && this.#lastMessages.size === 0;
  }

  /** Returns the batch that was collected so far and begins the next. */
  take(): EventBatch {
    this.converter.drain();
    const batch: EventBatch = {
      ...this.#events.take(),
      sourceOffsets: this.#sourceOffsets(),
      deadLetters: this.#deadLetters,
      expiredCount: this.#expiredCount,
    };
    this.#expiredCount = 0;
    this.#deadLetters = [];
    this.#deadLetterBytes = 0;
    this.#lastMessages = new Map();
    this.#message = NO_MESSAGE;
    return batch;
  }

  /** Takes back the memory of a batch that was taken and that nobody reads any more. */
  release(batch: EventBatch): void {
    this.#events.release(batch);
  }

  #count(verdict: EventVerdict): EventVerdict {
    if (verdict.kind === 'expired') {
      this.#expiredCount++;
    }
    return verdict;
  }

  #addDeadLetter(letter: DeadLetter): void {
    this.#deadLetters.push(letter);
    this.#deadLetterBytes += memoryOfLetter(letter);
  }

  #moveTo(topic: string, partition: number, offset: bigint): void {
    if (this.#message.partition !== partition || this.#message.topic !== topic) {
      this.#message = this.#messageOf(topic, partition);
    }
    this.#message.offset = offset;
  }

  #messageOf(topic: string, partition: number): Message {
    let partitions = this.#lastMessages.get(topic);
    if (partitions === undefined) {
      partitions = new Map();
      this.#lastMessages.set(topic, partitions);
    }
    let message = partitions.get(partition);
    if (message === undefined) {
      message = { topic, partition, offset: 0n, topicId: undefined };
      partitions.set(partition, message);
    }
    return message;
  }

  #sourceOffsets(): SourceOffset[] {
    return [...this.#lastMessages.values()].flatMap((partitions) =>
      [...partitions.values()].map(({ topic, partition, offset, topicId }) => ({
        ...{ topic, partition, nextOffset: offset + 1n },
        ...(topicId === undefined ? {} : { topicId }),
      })),
    );
  }
}

/** What a dead letter keeps of a message: a copy, because a message is often a view of a fetched block. */
function kept(bytes: Uint8Array | LongPiece): Pick<DeadLetter, 'bytes' | 'cut'> {
  if (bytes instanceof LongPiece) {
    return { bytes: bytes.start, cut: { sizeBytes: bytes.sizeBytes, sha256: bytes.sha256 } };
  }
  if (bytes.length <= LARGEST_EVENT_BYTES) {
    return { bytes: Uint8Array.from(bytes), cut: null };
  }
  const cut = { sizeBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest() };
  return { bytes: Uint8Array.from(textStart(bytes, KEPT_START_BYTES)), cut };
}
