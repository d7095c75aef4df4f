import { ConvertedEvents } from './converted-events.ts';
import { EventKernel, type EventTimes, type LineReceiver } from './event-kernel.ts';
import { CLOCK_TOLERANCE_MS, type EventRules } from './event-rules.ts';
import type { EventVerdict } from './event-verdict.ts';
import { NEWLINE } from './scan/json-bytes.ts';
import { ScannedEvents } from './scanned-events.ts';

/** A kernel takes as long to make as it saves on this many events; many inputs have fewer. */
const EVENTS_BEFORE_KERNEL = 20;

const ACCEPTED: EventVerdict = { kind: 'accepted' };

/**
 * Turns events as they come over the wire into columns and packed logs and collects them: the usual ones by the kernel, the others by
 * scanning them here.
 */
export class EventConverter {
  readonly #rules: EventRules;
  readonly #scanned: ScannedEvents;
  readonly #events = new ConvertedEvents();
  #kernel: EventKernel | null = null;
  #eventsBeforeKernel = EVENTS_BEFORE_KERNEL;

  constructor(options: EventRules) {
    this.#rules = options;
    this.#scanned = new ScannedEvents(options);
  }

  /**
   * Adds an accepted event to those that were collected. One without an id gets `place`, where it stands in Kafka,
   * or the start of the SHA-256 over its bytes if that is null.
   */
  convert(bytes: Uint8Array, place: (() => string) | null): EventVerdict {
    if (this.#kernel === null && this.#eventsBeforeKernel-- === 0) {
      this.#kernel = kernelIfThereIsRoom();
    }
    const kernel = this.#kernel;
    if (kernel !== null) {
      if (kernel.convert(bytes, place, this.#times(), this.#events)) {
        return ACCEPTED;
      }
      kernel.drain(this.#events);
    }
    return this.#scanned.convert(bytes, place, this.#events);
  }

  /**
   * Adds the usual ones among the events that end in a chunk, one a line; each of the others goes to `receiver.other`, which may call
   * `convert` for it. Returns where the last line ends.
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
    return start + this.#kernel.convertLines(chunk.subarray(start), this.#times(), this.#events, receiver);
  }

  /** Of the events that were collected. */
  get byteLength(): number {
    return this.#events.byteLength + (this.#kernel?.byteLength ?? 0);
  }

  /** The events that were collected; there are none afterwards. */
  take(): ReturnType<ConvertedEvents['take']> {
    this.#kernel?.drain(this.#events);
    return this.#events.take();
  }

  /** Takes back the memory of events that were taken and that nobody reads any more. */
  release(events: ReturnType<ConvertedEvents['take']>): void {
    this.#events.release(events);
  }

  #times(): EventTimes {
    const now = this.#rules.now();
    return { earliestMs: now - this.#rules.retentionMs, latestMs: now + CLOCK_TOLERANCE_MS };
  }
}

/** Null where the process may have no more address space (`ulimit -v`), of which a kernel takes 10 GB: then everything is scanned. */
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
