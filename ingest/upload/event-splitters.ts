import { behindNuls, CARRIAGE_RETURN, isBlank, NEWLINE, newlinesIn, OPEN_BRACE } from '../../query/json-bytes.ts';
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
