import type { FeedLine } from '../../store/event-store.ts';
import { readEvent, withShortenedLog } from '../../store/feed-event.ts';
import type { EventWriter } from '../formats/feed-formats.ts';

/** The least that a reader may allow a line, in bytes. */
export const MIN_LINE_BYTES = 1024;

/** A UTF-16 unit takes at most so many bytes in UTF-8. */
export const MAX_BYTES_PER_UNIT = 3;

/** How many events of an answer had lines longer than its reader allows. */
export interface LongLines {
  /** Events that were sent without their log. */
  readonly shortened: number;
  /** Of those, events whose lines are longer all the same. */
  readonly tooLong: number;
}

export const NO_LONG_LINES: LongLines = { shortened: 0, tooLong: 0 };

export function addLongLines(one: LongLines, other: LongLines): LongLines {
  return { shortened: one.shortened + other.shortened, tooLong: one.tooLong + other.tooLong };
}

/**
 * Keeps lines to what a reader allows: an event whose line would be longer, without its end, is written with the size of its log in place
 * of its log. A line that is longer all the same is left as it is then. Counts both.
 */
export class LineLimit {
  readonly #maxBytes: number;
  #counts = NO_LONG_LINES;

  /** `maxBytes` null: lines of any length. */
  constructor(maxBytes: number | null) {
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY;
  }

  get counts(): LongLines {
    return this.#counts;
  }

  /** The stored line of an event, within the limit. */
  stored(line: FeedLine): FeedLine {
    if (line.end - line.start <= this.#maxBytes) return line;
    const shortened = withShortenedLog(line);
    this.#count(shortened.end - shortened.start);
    return shortened;
  }

  /** The text of an event in a format, within the limit. */
  written(line: FeedLine, writeEvent: EventWriter): string {
    const text = writeEvent(readEvent(line));
    // Counting the bytes of a text reads all of it, so this is done only where it may be too long.
    if (text.length * MAX_BYTES_PER_UNIT <= this.#maxBytes || Buffer.byteLength(text) <= this.#maxBytes) return text;
    const shortened = writeEvent(readEvent(withShortenedLog(line)));
    this.#count(Buffer.byteLength(shortened));
    return shortened;
  }

  #count(bytes: number): void {
    this.#counts = addLongLines(this.#counts, { shortened: 1, tooLong: bytes > this.#maxBytes ? 1 : 0 });
  }
}
