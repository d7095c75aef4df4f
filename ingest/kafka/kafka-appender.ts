import type { EventStore } from '../../store/event-store.ts';
import { BatchBuilder, MAX_BATCH_BYTES, type PartitionRecords } from '../event/batch-builder.ts';
import type { EventVerdict } from '../event/event-verdict.ts';
import { PendingAppends } from '../event/pending-appends.ts';
import { addMappedMessages, type MappedMessages, type RecordVerdict } from '../upload/mapped-messages.ts';
import { addKafkaMessage } from '../upload/message-events.ts';

const MAX_BATCH_EVENTS = 20_000;
/** How long the first event of a batch waits for more events. */
const LINGER_MS = 100;

/** Counters of a Kafka source since its start. What comes again after a failure counts again. */
export interface KafkaCounters {
  /** Messages read, whatever they hold. */
  messages: number;
  /** Batches stored. */
  batches: number;
  /** Stored offsets that their topic did not have: messages were lost before they were read, or the topic was made anew. */
  outOfRangeOffsets: number;
  /** New connections after a failure. */
  reconnects: number;
  /** Pauses of a partition because too many bytes waited for the store. */
  pauses: number;
  /** Events with U+FFFD in their texts, or whose `ip` lost a port or blanks. */
  repairedEvents: number;
  /** Texts of events that are stored by their first bytes. */
  cutTexts: number;
  /** Events whose `ip` is neither an address nor a network. */
  unknownIps: number;
  /** Messages without a value, which mark a key as deleted. */
  tombstones: number;
  /** What became of the records of other products, by the name of their mapping. */
  readonly mappedRecords: Map<string, Record<RecordVerdict['kind'], number>>;
}

export function kafkaCounters(): KafkaCounters {
  const ofSource = { messages: 0, batches: 0, outOfRangeOffsets: 0, reconnects: 0, pauses: 0 };
  return { ...ofSource, repairedEvents: 0, cutTexts: 0, unknownIps: 0, tombstones: 0, mappedRecords: new Map() };
}

export interface KafkaAppenderOptions {
  readonly store: EventStore;
  /** Adds to what it has of messages and records. */
  readonly counters: KafkaCounters;
  readonly now: () => number;
  readonly retentionMs: number;
  readonly onAppended: () => void;
  /** Called once for a failed append and the ones after it that fail too. The messages collected by then are discarded already. */
  readonly onFailure: (error: Error) => void;
}

/** Where a partition is read from again. */
interface MovedBack {
  readonly partition: number;
  readonly nextOffset: bigint;
  readonly topicId: string | undefined;
}

/** Collects messages into batches, and appends these in order, a few at a time. Each batch carries its source offsets. */
export class KafkaAppender {
  readonly #options: KafkaAppenderOptions;
  readonly #appends = new PendingAppends();
  #builder: BatchBuilder;
  #linger: NodeJS.Timeout | undefined;
  #lingered = false;
  /** The number of discards. A failed append of an earlier generation is reported already. */
  #generation = 0;
  readonly #count = (verdict: EventVerdict): void => {
    const { counters } = this.#options;
    if (verdict.kind === 'accepted') {
      counters.repairedEvents += verdict.isRepaired === true ? 1 : 0;
      counters.cutTexts += verdict.cutTexts ?? 0;
      counters.unknownIps += verdict.hasUnknownIp === true ? 1 : 0;
    }
  };
  /** Settled when no offset is being moved back. Never rejects. */
  #movingBack: Promise<unknown> = Promise.resolve();

  constructor(options: KafkaAppenderOptions) {
    this.#options = options;
    this.#builder = new BatchBuilder(options);
  }

  /** Bytes that are read from Kafka and not searchable yet. */
  get pendingBytes(): number {
    return this.#builder.byteLength + this.#options.store.pendingBytes();
  }

  /** Adds the records of a batch from an index on. `moveTo` passes the offsets of tombstones. */
  add(topic: string, partition: number, records: PartitionRecords, from: number): void {
    const { base, bytes, count, deltas, starts, ends } = records;
    for (let index = from; index < count; index++) {
      index = this.#builder.convertRecords(topic, partition, records, index);
      if (index === count) return;
      const start = starts[index] as number;
      if (start < 0) {
        this.#options.counters.tombstones++;
      } else {
        const offset = base + BigInt(deltas[index] as number);
        addKafkaMessage(this.#builder, topic, partition, offset, bytes.subarray(start, ends[index]), this.#count);
      }
    }
  }

  /** The same for messages whose records are mapped. All records of a message are in one batch. */
  addMapped(topic: string, partition: number, messages: MappedMessages, from: number): void {
    const { mapping, count, messageOf } = messages;
    const { counters } = this.#options;
    const counts = counters.mappedRecords.get(mapping) ?? { accepted: 0, expired: 0, rejected: 0, leftOut: 0 };
    counters.mappedRecords.set(mapping, counts);
    counters.tombstones += count - from - messageOf.filter((message) => message >= from).length;
    addMappedMessages(this.#builder, { topic, partition }, messages, from, (verdict) => {
      counts[verdict.kind]++;
      if (verdict.kind !== 'leftOut') this.#count(verdict);
    });
  }

  /** Keeps the bytes of a batch that cannot be decoded as a dead letter. */
  addBatchLetter(topic: string, partition: number, offset: bigint, bytes: Uint8Array, reason: string): void {
    this.#builder.rejectKafkaBatch(topic, partition, offset, bytes, reason);
  }

  /** Sets how far the partition is read, whether or not there were messages, and its topic's id. To be called after each run of `add`. */
  moveTo(topic: string, partition: number, nextOffset: bigint, topicId: string | undefined): void {
    this.#builder.moveTo(topic, partition, nextOffset, topicId);
  }

  /** Stores offsets that are lower than the stored ones, once everything that is collected is stored. Rejects where the store fails. */
  async moveBack(topic: string, places: readonly MovedBack[]): Promise<void> {
    const builder = new BatchBuilder(this.#options);
    for (const { partition, nextOffset, topicId } of places) {
      builder.moveTo(topic, partition, nextOffset, topicId);
    }
    const moved = this.#movingBack.then(async () => {
      await this.#drainAppends();
      await this.#options.store.append(builder.take());
    });
    this.#movingBack = moved.catch(() => undefined);
    await moved;
  }

  /** To be called after a run of `add`: appends a batch that is full or has waited long enough, or starts its timer. */
  flushWhenDue(): void {
    if (this.#builder.isEmpty) {
      return;
    }
    const full = this.#builder.byteLength >= MAX_BATCH_BYTES || this.#builder.eventCount >= MAX_BATCH_EVENTS;
    if ((full || this.#lingered) && this.#appends.hasRoom) {
      this.#append();
    } else if (!this.#lingered) {
      this.#linger ??= setTimeout(() => {
        this.#lingered = true;
        this.flushWhenDue();
      }, LINGER_MS);
    }
  }

  /** Appends everything collected so far, and resolves when all appends have succeeded or failed. Never rejects. */
  async drain(): Promise<void> {
    // A partition that starts now is to start at the offset that it is moved back to.
    await this.#movingBack;
    await this.#drainAppends();
  }

  async #drainAppends(): Promise<void> {
    if (!this.#builder.isEmpty) {
      this.#append();
    }
    await this.#appends.drained();
  }

  /** Discards the messages that are not handed to the store yet. */
  discard(): void {
    this.#generation++;
    this.#builder = new BatchBuilder(this.#options);
    this.#stopLingering();
  }

  #append(): void {
    this.#stopLingering();
    const generation = this.#generation;
    const batch = this.#builder.take();
    const { store, onAppended, onFailure } = this.#options;
    this.#appends.add(store.append(batch), {
      onStored: onAppended,
      onFailed: (error) => {
        if (generation === this.#generation) {
          this.discard();
          onFailure(error);
        }
      },
      onSettled: () => {
        this.#builder.release(batch);
        this.flushWhenDue();
      },
    });
  }

  #stopLingering(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    this.#lingered = false;
  }
}
