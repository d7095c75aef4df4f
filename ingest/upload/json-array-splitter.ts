import { LongPiece, PartialEvent } from '../event/partial-event.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  isBlank,
  newlinesIn,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../event/scan/json-bytes.ts';
import type { EventReceiver, EventSplitter } from './event-splitter.ts';
import { UnreadableInput } from './unreadable-input.ts';

/**
 * The elements of one JSON array. Only strings and brackets are told apart here: what lies between two commas is handed on as it is, and
 * whether it is an event is decided there.
 */
export class JsonArraySplitter implements EventSplitter {
  readonly #partial = new PartialEvent();
  #place: 'before' | 'inside' | 'behind' = 'before';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #elements = 0;

  push(chunk: Buffer, receiver: EventReceiver): void {
    let start = 0;
    if (this.#place === 'before') {
      start = chunk.indexOf(OPEN_BRACKET) + 1;
      receiver.newlines(newlinesIn(start > 0 ? chunk.subarray(0, start) : chunk));
      this.#place = start > 0 ? 'inside' : 'before';
    }
    start = this.#skipBlanks(chunk, start, receiver);
    for (let index = start; index < chunk.length && this.#place === 'inside'; index++) {
      if (this.#endsElement(chunk[index]!)) {
        this.#element(this.#partial.finish(chunk.subarray(start, index)), chunk[index] === COMMA, receiver);
        start = this.#skipBlanks(chunk, index + 1, receiver);
        index = start - 1;
      }
    }
    if (this.#place !== 'before') {
      this.#partial.add(chunk.subarray(start));
    }
  }

  end(receiver: EventReceiver): void {
    const whole = this.#partial.finish(new Uint8Array(0));
    if (this.#place !== 'behind') {
      // An element that is whole is taken in; one that was cut off is told by the error, not as a dead letter.
      throw new UnreadableInput('unclosed_array', `the input ends inside a JSON array, in element ${this.#elements}: "]" is missing`);
    }
    const reason = 'these bytes stand behind the end of the JSON array: nothing is allowed there';
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

  /** Returns where the next element goes on: blanks before it are not of it, however many. */
  #skipBlanks(chunk: Buffer, from: number, receiver: EventReceiver): number {
    let start = from;
    while (this.#partial.isEmpty && this.#place !== 'before' && start < chunk.length && isBlank(chunk[start]!)) {
      start += 1;
    }
    receiver.newlines(newlinesIn(chunk.subarray(from, start)));
    return start;
  }

  #element(bytes: Uint8Array | LongPiece, moreFollow: boolean, receiver: EventReceiver): void {
    if (bytes instanceof LongPiece) {
      this.#place = moreFollow ? 'inside' : 'behind';
      this.#elements++;
      receiver.tooLong(bytes);
      receiver.newlines(bytes.newlines);
      return;
    }
    const element = trimmed(bytes);
    const start = element.byteOffset - bytes.byteOffset;
    receiver.newlines(newlinesIn(bytes.subarray(0, start)));
    this.#place = moreFollow ? 'inside' : 'behind';
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
