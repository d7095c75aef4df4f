import {
  BACKSLASH,
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
import { LongPiece, PartialEvent } from '../event/partial-event.ts';
import { UnreadableInput } from './intake-report.ts';

/** Receives the parts of an input from a splitter, in their order. */
export interface EventReceiver {
  event(bytes: Uint8Array): void;
  /** Takes a piece that is too long for an event. `reason` is present where something else is wrong with it. */
  tooLong(piece: LongPiece, reason?: string): void;
  /**
   * Takes the lines that end in a chunk, in their order. It converts common events itself, and passes every other line, without its
   * newline, to `other`. Returns the offset after the last line.
   */
  lines(chunk: Buffer, other: (line: Uint8Array) => void): number;
  /** Takes bytes that stand for an event but cannot be one. */
  stray(bytes: Uint8Array, reason: string): void;
  /** Counts newlines that `lines` has not taken. */
  newlines(count: number): void;
}

/** Splits an input, in chunks of any size, into events. */
export interface EventSplitter {
  push(chunk: Buffer, receiver: EventReceiver): void;
  /** To be called at the end of the input. Throws `UnreadableInput` where it must not end here. */
  end(receiver: EventReceiver): void;
}

/** Splits lines, which end with LF or CRLF; the last one may end with neither. Blank lines are skipped. */
export class NdjsonSplitter implements EventSplitter {
  readonly #partial = new PartialEvent();

  push(chunk: Buffer, receiver: EventReceiver): void {
    const start = this.#partial.isEmpty ? 0 : chunk.indexOf(NEWLINE) + 1;
    if (start > 0) {
      this.#line(this.#partial.finish(chunk.subarray(0, start - 1)), receiver);
    }
    const rest = chunk.subarray(start);
    const end = this.#partial.isEmpty ? receiver.lines(rest, (line) => this.#line(line, receiver)) : 0;
    this.#partial.add(rest.subarray(end));
  }

  end(receiver: EventReceiver): void {
    this.#line(this.#partial.finish(new Uint8Array(0)), receiver);
  }

  #line(line: Uint8Array | LongPiece, receiver: EventReceiver): void {
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
}

/** Splits the elements of one JSON array. It follows only strings and brackets; the receiver decides whether an element is an event. */
export class JsonArraySplitter implements EventSplitter {
  readonly #partial = new PartialEvent();
  #position: 'before' | 'inside' | 'after' = 'before';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #elements = 0;

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
      // An element that was cut off becomes part of this error, not a dead letter.
      throw new UnreadableInput('unclosed_array', `the input ends inside a JSON array, in element ${this.#elements}: "]" is missing`);
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
    if (bytes instanceof LongPiece) {
      this.#position = moreFollow ? 'inside' : 'after';
      this.#elements++;
      receiver.tooLong(bytes);
      receiver.newlines(bytes.newlines);
      return;
    }
    const element = trimmed(bytes);
    const start = element.byteOffset - bytes.byteOffset;
    receiver.newlines(newlinesIn(bytes.subarray(0, start)));
    this.#position = moreFollow ? 'inside' : 'after';
    if (element.length > 0) {
      this.#elements++;
      receiver.event(element);
    } else if (moreFollow || this.#elements > 0) {
      this.#elements++;
      receiver.stray(element, 'there is nothing before a comma or between a comma and "]": a JSON object is required');
    }
    receiver.newlines(newlinesIn(bytes.subarray(start)));
  }
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
