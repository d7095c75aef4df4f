import { NEWLINE } from '../../query/json-bytes.ts';
import { ConvertedEvents } from './converted-events.ts';
import { EventKernel, type LineReceiver } from './event-kernel.ts';
import { type AllowedTimes, allowedTimes, type EventRules, type EventVerdict } from './event-verdict.ts';
import { ScannedEvents } from './scanned-events.ts';

/** A kernel takes as long to make as it saves on this many events; many inputs have fewer. */
const EVENTS_BEFORE_KERNEL = 20;

const ACCEPTED: EventVerdict = { kind: 'accepted' };

/**
 * Turns events as they come over the wire into columns and packed logs and collects them. The kernel converts the usual ones;
 * `ScannedEvents` reads the others.
 */
export class EventConverter {
  readonly #rules: EventRules;
  readonly #scanned: ScannedEvents;
  readonly #events = new ConvertedEvents();
  #kernel: EventKernel | null = null;
  #eventsBeforeKernel = EVENTS_BEFORE_KERNEL;
  /** Set while `convertLines` hands out a line that the kernel declined: `convert` does not offer it again. */
  #isDeclined = false;

  constructor(options: EventRules) {
    this.#rules = options;
    this.#scanned = new ScannedEvents(options);
  }

  /**
   * Adds an accepted event to those that were collected. One without an id gets `sourceId` (its topic, partition and offset in Kafka) or,
   * if that is null, the start of the SHA-256 over its bytes.
   */
  convert(bytes: Uint8Array, sourceId: (() => string) | null): EventVerdict {
    if (this.#kernel === null && this.#eventsBeforeKernel-- === 0) {
      this.#kernel = kernelIfThereIsRoom();
    }
    const kernel = this.#kernel;
    if (kernel !== null) {
      if (!this.#isDeclined && kernel.convert(bytes, sourceId, this.#times(), this.#events)) {
        return ACCEPTED;
      }
      kernel.drain(this.#events);
    }
    return this.#scanned.convert(bytes, sourceId, this.#events);
  }

  /**
   * Adds the usual events among the lines that end in a chunk. Each of the other lines goes to `receiver.other`, which may call `convert`
   * for it. Returns the end of the last line.
   */
  convertLines(chunk: Buffer, receiver: LineReceiver): number {
    let start = 0;
    while (this.#kernel === null) {
      const newline = chunk.indexOf(NEWLINE, start);
      if (newline < 0) {
        return start;
      }
      receiver.other(chunk.subarray(start, newline));
      start = newline + 1;
    }
    const other = (line: Uint8Array) => {
      this.#isDeclined = true;
      try {
        receiver.other(line);
      } finally {
        this.#isDeclined = false;
      }
    };
    return start + this.#kernel.convertLines(chunk.subarray(start), this.#times(), this.#events, { added: receiver.added, other });
  }

  /** Bytes of the events that were collected. */
  get byteLength(): number {
    return this.#events.byteLength + (this.#kernel?.byteLength ?? 0);
  }

  /** Returns the events that were collected and forgets them. */
  take(): ReturnType<ConvertedEvents['take']> {
    this.#kernel?.drain(this.#events);
    return this.#events.take();
  }

  /** Takes back the memory of events that were taken and that nobody reads any more. */
  release(events: ReturnType<ConvertedEvents['take']>): void {
    this.#events.release(events);
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
