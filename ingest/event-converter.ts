import { ConvertedEvents } from './converted-events.ts';
import type { EventRules } from './event-rules.ts';
import type { EventVerdict } from './event-verdict.ts';
import { ScannedEvents } from './scanned-events.ts';

/** Turns events as they come over the wire into columns and packed logs and collects them. */
export class EventConverter {
  readonly #scanned: ScannedEvents;
  readonly #events = new ConvertedEvents();

  constructor(options: EventRules) {
    this.#scanned = new ScannedEvents(options);
  }

  /**
   * Adds an accepted event to those that were collected. One without an id gets `place`, where it stands in Kafka,
   * or the start of the SHA-256 over its bytes if that is null.
   */
  convert(bytes: Uint8Array, place: (() => string) | null): EventVerdict {
    return this.#scanned.convert(bytes, place, this.#events);
  }

  /** Of the events that were collected. */
  get byteLength(): number {
    return this.#events.byteLength;
  }

  /** The events that were collected; there are none afterwards. */
  take(): ReturnType<ConvertedEvents['take']> {
    return this.#events.take();
  }

  /** Takes back the memory of events that were taken and that nobody reads any more. */
  release(events: ReturnType<ConvertedEvents['take']>): void {
    this.#events.release(events);
  }
}
