import {
  BACKSLASH,
  behindNuls,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  isBlank,
  NEWLINE,
  newlinesIn,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../query/json-bytes.ts';
import type { EventConverter } from '../event/event-converter.ts';
import { type InputMemory, LongPiece, PartialEvent } from '../event/partial-event.ts';

/** Receives the parts of an input from a splitter, in their order. */
export interface EventReceiver {
  event(bytes: Uint8Array): void;
  /** Takes the event as well, unless its bytes are no JSON: then it returns false, and nothing is noted. */
  tryEvent(bytes: Uint8Array): boolean;
  /** Takes a piece that is too long for an event. `reason` is present where something else is wrong with it. */
  tooLong(piece: LongPiece, reason?: string): void;
  /** Counts usual events that are converted already, a line each. */
  converted(events: number): void;
  /** Takes bytes that stand for an event but cannot be one. */
  stray(bytes: Uint8Array, reason: string): void;
  /**
   * Takes what there is of the element with this index where the input is an array that ends in it. Throws `UnreadableInput` where an input
   * must not end so.
   */
  unclosed(bytes: Uint8Array | LongPiece, index: number): void;
  /** Counts the newlines of everything else. */
  newlines(count: number): void;
}

/** Converts usual events on lines or at known places, and counts them. */
export type LineConverter = Pick<EventConverter, 'convertLines' | 'convertRecords' | 'eventCount'>;

/** Converts nothing: the events on them get the ids of their message, or are records that a mapping turns into events. */
export const NO_LINES: LineConverter = { eventCount: 0, convertLines: (_chunk, from) => from, convertRecords: (_records, from) => from };

/** Splits an input, in chunks of any size, into events. */
export interface EventSplitter {
  push(chunk: Buffer, receiver: EventReceiver): void;
  /** To be called at the end of the input. Throws what the receiver throws. */
  end(receiver: EventReceiver): void;
}

/**
 * Splits lines, which end with LF or CRLF; the last one may end with neither. Blank lines are skipped, and NULs before a line, of any
 * number. Usual events on whole lines are converted where they stand.
 */
export class NdjsonSplitter implements EventSplitter {
  readonly #converter: LineConverter;
  readonly #partial: PartialEvent;

  constructor(converter: LineConverter, memory?: InputMemory) {
    this.#converter = converter;
    this.#partial = new PartialEvent(memory);
  }

  push(chunk: Buffer, receiver: EventReceiver): void {
    for (let at = 0; ; ) {
      if (this.#partial.isEmpty) {
        const before = this.#converter.eventCount;
        at = this.#converter.convertLines(chunk, at);
        receiver.converted(this.#converter.eventCount - before);
        at = behindNuls(chunk, at);
      }
      const newline = chunk.indexOf(NEWLINE, at);
      if (newline < 0) {
        this.#partial.add(chunk.subarray(at));
        return;
      }
      takeLine(this.#partial.finish(chunk.subarray(at, newline)), receiver);
      at = newline + 1;
    }
  }

  end(receiver: EventReceiver): void {
    takeLine(this.#partial.finish(new Uint8Array(0)), receiver);
  }
}

/** NUL, and the bytes of a byte order mark. */
const PASSED_OVER: readonly number[] = [0x00, 0xef, 0xbb, 0xbf];

/** The first byte that is neither blank, NUL nor part of a byte order mark; undefined where there is none. */
export function firstByteOf(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => !isBlank(byte) && !PASSED_OVER.includes(byte));
}

/** Takes a line of lines, without its newline, unless it is blank. */
export function takeLine(line: Uint8Array | LongPiece, receiver: EventReceiver): void {
  if (line instanceof LongPiece) {
    if (!line.isBlank) {
      receiver.tooLong(line);
    }
    receiver.newlines(1);
    return;
  }
  const text = line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  if (text[0] === OPEN_BRACE || !text.every(isBlank)) {
    receiver.event(text);
  }
  receiver.newlines(1);
}

/** Splits the elements of one JSON array. It follows only strings and brackets; the receiver decides whether an element is an event. */
export class JsonArraySplitter implements EventSplitter {
  readonly #partial: PartialEvent;
  #position: 'before' | 'inside' | 'after' = 'before';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #elements = 0;

  constructor(memory?: InputMemory) {
    this.#partial = new PartialEvent(memory);
  }

  push(chunk: Buffer, receiver: EventReceiver): void {
    let start = 0;
    if (this.#position === 'before') {
      start = chunk.indexOf(OPEN_BRACKET) + 1;
      receiver.newlines(newlinesIn(start > 0 ? chunk.subarray(0, start) : chunk));
      this.#position = start > 0 ? 'inside' : 'before';
    }
    start = this.#skipBlanks(chunk, start, receiver);
    for (let index = start; index < chunk.length && this.#position === 'inside'; index++) {
      if (this.#endsElement(chunk[index]!)) {
        this.#element(this.#partial.finish(chunk.subarray(start, index)), chunk[index] === COMMA, receiver);
        start = this.#skipBlanks(chunk, index + 1, receiver);
        index = start - 1;
      }
    }
    if (this.#position !== 'before') {
      this.#partial.add(chunk.subarray(start));
    }
  }

  end(receiver: EventReceiver): void {
    const whole = this.#partial.finish(new Uint8Array(0));
    if (this.#position !== 'after') {
      receiver.unclosed(whole, this.#elements);
      return;
    }
    const reason = 'these bytes come after the end of the JSON array: nothing is allowed there';
    if (whole instanceof LongPiece) {
      receiver.tooLong(whole, reason);
      return;
    }
    const rest = trimmed(whole);
    if (rest.length > 0) {
      receiver.newlines(newlinesIn(whole.subarray(0, rest.byteOffset - whole.byteOffset)));
      receiver.stray(rest, reason);
    }
  }

  #endsElement(byte: number): boolean {
    if (this.#inString) {
      if (this.#escaped) {
        this.#escaped = false;
      } else if (byte === BACKSLASH) {
        this.#escaped = true;
      } else if (byte === QUOTE) {
        this.#inString = false;
      }
      return false;
    }
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        return false;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#depth++;
        return false;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.#depth > 0) {
          this.#depth--;
          return false;
        }
        return byte === CLOSE_BRACKET;
      default:
        return byte === COMMA && this.#depth === 0;
    }
  }

  /** Skips blanks before an element, and returns the offset after them. */
  #skipBlanks(chunk: Buffer, from: number, receiver: EventReceiver): number {
    let start = from;
    while (this.#partial.isEmpty && this.#position !== 'before' && start < chunk.length && isBlank(chunk[start]!)) {
      start += 1;
    }
    receiver.newlines(newlinesIn(chunk.subarray(from, start)));
    return start;
  }

  #element(bytes: Uint8Array | LongPiece, moreFollow: boolean, receiver: EventReceiver): void {
    this.#position = moreFollow ? 'inside' : 'after';
    if (takeElement(bytes, moreFollow || this.#elements > 0, receiver)) {
      this.#elements++;
    }
  }
}

/** Takes the bytes of an element, with the blanks around it. False where there is none and none is needed: the array is empty. */
export function takeElement(bytes: Uint8Array | LongPiece, isNeeded: boolean, receiver: EventReceiver): boolean {
  if (bytes instanceof LongPiece) {
    receiver.tooLong(bytes);
    receiver.newlines(bytes.newlines);
    return true;
  }
  const element = trimmed(bytes);
  const start = element.byteOffset - bytes.byteOffset;
  receiver.newlines(newlinesIn(bytes.subarray(0, start)));
  const isThere = element.length > 0;
  if (isThere) {
    receiver.event(element);
  } else if (isNeeded) {
    receiver.stray(element, 'there is nothing before a comma or between a comma and "]": a JSON object is required');
  }
  receiver.newlines(newlinesIn(bytes.subarray(start)));
  return isThere || isNeeded;
}

function trimmed(bytes: Uint8Array): Uint8Array {
  let [start, end] = [0, bytes.length];
  while (start < end && isBlank(bytes[start])) {
    start++;
  }
  while (start < end && isBlank(bytes[end - 1])) {
    end--;
  }
  return bytes.subarray(start, end);
}
