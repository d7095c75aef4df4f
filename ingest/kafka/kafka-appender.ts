import type { EventStore } from '../../store/event-store.ts';
import { BatchBuilder } from '../event/batch-builder.ts';

const FULL_BYTES = 16 * 1024 * 1024;
const FULL_EVENTS = 20_000;
/** How long the first event of a batch waits for company. */
const LINGER_MS = 100;
/** One batch is loaded, one is written to the journal, one waits so that neither does, and another is collected. */
const MAX_UNDER_WAY = 3;

export interface KafkaAppenderOptions {
  readonly store: EventStore;
  readonly now: () => number;
  readonly retentionMs: number;
  readonly onAppended: () => void;
  /** Called once for a failed append and those that fall with it; what was collected by then has been discarded. */
  readonly onFailure: (error: Error) => void;
}

/** Collects messages into batches and appends them, in order, a few at a time; the offsets travel in the batches. */
export class KafkaAppender {
  readonly #options: KafkaAppenderOptions;
  readonly #underWay = new Set<Promise<void>>();
  #builder: BatchBuilder;
  #linger: NodeJS.Timeout | undefined;
  #lingered = false;
  /** Counts the discards: a failure of what was sent before the last one is old news. */
  #generation = 0;
  batches = 0;

  constructor(options: KafkaAppenderOptions) {
    this.#options = options;
    this.#builder = new BatchBuilder(options);
  }

  /** Bytes that are read from Kafka and not yet searchable. */
  get pendingBytes(): number {
    return this.#builder.byteLength + this.#options.store.pendingBytes();
  }

  add(topic: string, partition: number, offset: bigint, value: Uint8Array | null): void {
    this.#builder.addKafkaMessage(topic, partition, offset, value);
  }

  /** Says that the partition has been read up to here, whether or not there were messages. */
  moveTo(topic: string, partition: number, nextOffset: bigint): void {
    this.#builder.moveTo(topic, partition, nextOffset);
  }

  /** To be called after a run of `add`: appends what is due, or sees to it that it will be. */
  flushWhenDue(): void {
    if (this.#builder.isEmpty) {
      return;
    }
    const full = this.#builder.byteLength >= FULL_BYTES || this.#builder.eventCount >= FULL_EVENTS;
    if ((full || this.#lingered) && this.#underWay.size < MAX_UNDER_WAY) {
      this.#append();
    } else if (!this.#lingered) {
      this.#linger ??= setTimeout(() => {
        this.#lingered = true;
        this.flushWhenDue();
      }, LINGER_MS);
    }
  }

  /** Appends everything collected so far and waits until it, and all before it, is stored or has failed. Never rejects. */
  async drain(): Promise<void> {
    if (!this.#builder.isEmpty) {
      this.#append();
    }
    await Promise.all(this.#underWay);
  }

  /** Forgets what is not under way to the store yet. */
  discard(): void {
    this.#generation++;
    this.#builder = new BatchBuilder(this.#options);
    this.#stopLingering();
  }

  #append(): void {
    this.#stopLingering();
    const append = this.#send(this.#generation).finally(() => {
      this.#underWay.delete(append);
      this.flushWhenDue();
    });
    this.#underWay.add(append);
  }

  async #send(generation: number): Promise<void> {
    const batch = this.#builder.take();
    try {
      await this.#options.store.append(batch);
      this.batches++;
      this.#options.onAppended();
    } catch (error) {
      if (generation === this.#generation) {
        this.discard();
        this.#options.onFailure(error as Error);
      }
    } finally {
      this.#builder.release(batch);
    }
  }

  #stopLingering(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    this.#lingered = false;
  }
}
