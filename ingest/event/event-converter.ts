import type { EventCollector } from './event-collector.ts';
import { EventKernel, type RecordValues } from './event-kernel.ts';
import { EventScanner } from './event-scanner.ts';
import { type AllowedTimes, allowedTimes, type EventRules, type EventVerdict } from './event-verdict.ts';

/** The kernel of the thread, made with the first converter; null while there was no room for it, and then the next one tries again. */
let threadKernel: EventKernel | null = null;

const ACCEPTED: EventVerdict = { kind: 'accepted' };

/**
 * Turns events as they come over the wire into columns and packed logs. The kernel converts the usual ones;
 * `EventScanner` reads the others.
 */
export class EventConverter {
  readonly #rules: EventRules;
  /** Made for the first event that it reads, because it takes 64 KiB and many inputs have usual events alone. */
  #scanner: EventScanner | undefined;
  readonly #events: EventCollector;
  readonly #kernel: EventKernel | null;

  /** `events` gets the events, with `drain` all of them. */
  constructor(options: EventRules, events: EventCollector) {
    this.#rules = options;
    this.#events = events;
    threadKernel ??= kernelIfThereIsRoom();
    this.#kernel = threadKernel;
  }

  /**
   * Adds an accepted event to those that were collected. One without an id gets `sourceId` (its topic, partition and offset in Kafka) or,
   * if that is null, the start of the SHA-256 over its bytes.
   */
  convert(bytes: Uint8Array, sourceId: (() => string) | null): EventVerdict {
    const kernel = this.#kernel;
    if (kernel !== null) {
      if (kernel.convert(bytes, sourceId, this.#times(), this.#events)) {
        return ACCEPTED;
      }
      kernel.drain(this.#events);
    }
    this.#scanner ??= new EventScanner(this.#rules);
    return this.#scanner.convert(bytes, sourceId, this.#events);
  }

  /**
   * Adds the usual events that stand on lines, one after the other, from `from` on. Returns the start of the first line that it does not
   * add: `convert` is for that one, where it is whole. The bytes of a chunk do not change between the calls for it, and other bytes are
   * another Buffer: the kernel has a copy.
   */
  convertLines(chunk: Buffer, from: number): number {
    return this.#kernel === null ? from : this.#kernel.convertLines(chunk, from, this.#times(), this.#events);
  }

  /**
   * Adds the usual events among the values, from the one with the index `from` on. Returns the index of the first that it does not add:
   * `convert` is for that one, where it is an event. `sourceId` is as for `convert`, by the index of the value.
   */
  convertRecords(records: RecordValues, from: number, sourceId: (index: number) => string): number {
    return this.#kernel === null ? from : this.#kernel.convertRecords(records, from, sourceId, this.#times(), this.#events);
  }

  /** The number of events that were collected. */
  get eventCount(): number {
    return this.#events.count + (this.#kernel?.eventCountFor(this.#events) ?? 0);
  }

  /** Bytes of the events that were collected. */
  get byteLength(): number {
    return this.#events.byteLength + (this.#kernel?.byteLengthFor(this.#events) ?? 0);
  }

  /** Adds to the events what the kernel still keeps. To be called at the end of an input, too: the kernel has its last chunk until then. */
  drain(): void {
    this.#kernel?.letGo(this.#events);
  }

  #times(): AllowedTimes {
    return allowedTimes(this.#rules, this.#rules.now());
  }
}

/** Null where the process has no address space left (`ulimit -v`), of which a kernel takes 10 GB: then every event is scanned. */
function kernelIfThereIsRoom(): EventKernel | null {
  try {
    return new EventKernel();
  } catch (error) {
    if (error instanceof RangeError) {
      return null;
    }
    throw error;
  }
}
