import {
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
} from '../../query/json-bytes.ts';
import { LARGEST_LINE_BYTES } from '../event/event-verdict.ts';
import { type InputMemory, LongPiece, PartialEvent } from '../event/partial-event.ts';
import { BracketTracker } from './bracket-tracker.ts';
import { type EventReceiver, type EventSplitter, type LineConverter, takeElement, takeLine } from './event-splitters.ts';

const NOTHING = new Uint8Array(0);
const LINE_END = Buffer.from([NEWLINE]);

/**
 * A text that is given up is read again from its second line on, which may be given up again. After so many times each line that begins
 * with a bracket begins a text, so that no input costs more than a few readings.
 */
const MAX_READINGS = 8;

/** Of a line with thousands of texts the end is not looked for with each of them. */
const LINE_PART_BYTES = 4 * 1024;

/**
 * Where the bytes that come next are: on a line of their own; in an object that goes over lines; behind one, on the line of its end; in the
 * rest of such a line, which is no JSON; in an array.
 */
type Place = 'line' | 'object' | 'behind object' | 'rest' | 'array';

/**
 * Splits JSON texts: lines as `NdjsonSplitter` does, objects that go over several lines, and the elements of arrays, in any order. A line
 * that is an event by itself is looked at no further: brackets are followed on unusual ones. A line that begins with a bracket where
 * JSON allows none, or behind more than any event has, begins another text: what came before it is one faulty event, up to the first line
 * in it that begins with a bracket. So is a text whose brackets are closed and that is no JSON. The splitter goes on there, so that a line
 * that is cut off spoils no other. A whole text is never taken apart at its first reading: its lines may be those of an attacker.
 */
export class JsonTextSplitter implements EventSplitter {
  readonly #converter: LineConverter;
  readonly #partial: PartialEvent;
  readonly #brackets = new BracketTracker();
  #place: Place = 'line';
  /** The line under way has only had blanks so far. */
  #isLineBlank = true;
  /** An object or array goes on with a new line. */
  #isLineStart = false;
  /** Where in the partial text the first line begins that may be a text of its own. */
  #restartAt: number | null = null;
  /** How often the text under way was given up before, and that for the chunk, in which the next text begins. */
  #readings = 0;
  #chunkReadings = 0;
  /** The number of arrays, and of elements of the last one. */
  #arrays = 0;
  #elements = 0;
  #hasTexts = false;

  constructor(converter: LineConverter, memory?: InputMemory) {
    this.#converter = converter;
    this.#partial = new PartialEvent(memory);
  }

  push(chunk: Buffer, receiver: EventReceiver): void {
    for (let at = 0; at < chunk.length; ) {
      at = this.#step(chunk, at, receiver);
    }
  }

  end(receiver: EventReceiver): void {
    for (;;) {
      switch (this.#place) {
        case 'line':
          if (this.#partial.isEmpty) return;
          this.#line(this.#partial.finish(NOTHING), receiver);
          break;
        case 'behind object':
        case 'rest':
          this.#take(this.#partial.finish(NOTHING), receiver);
          break;
        case 'array':
          // The input is one array that was cut off, as an upload is that ends too early.
          if (this.#arrays === 1 && !this.#hasTexts) {
            receiver.unclosed(this.#partial.finish(NOTHING), this.#elements);
            return;
          }
          if (this.#partial.isEmpty) return;
          this.#giveUp(this.#partial.finish(NOTHING), receiver);
          break;
        case 'object':
          this.#giveUp(this.#partial.finish(NOTHING), receiver);
          break;
      }
    }
  }

  /** Returns the index from which on the chunk is still to be split. */
  #step(chunk: Buffer, at: number, receiver: EventReceiver): number {
    switch (this.#place) {
      case 'line':
        return this.#stepLine(chunk, at, receiver);
      case 'object':
        return this.#stepObject(chunk, at, receiver);
      case 'behind object':
        return this.#stepBehindObject(chunk, at, receiver);
      case 'rest':
        return this.#stepRest(chunk, at, receiver);
      case 'array':
        return this.#stepArray(chunk, at, receiver);
    }
  }

  #stepLine(chunk: Buffer, from: number, receiver: EventReceiver): number {
    let at = from;
    const beginsLine = at === 0 || chunk[at - 1] === NEWLINE;
    if (this.#partial.isEmpty && beginsLine) {
      const before = this.#converter.eventCount;
      at = this.#converter.convertLines(chunk, at);
      const converted = this.#converter.eventCount - before;
      this.#hasTexts ||= converted > 0;
      receiver.converted(converted);
      at = behindNuls(chunk, at);
    }
    if (this.#isLineBlank) {
      const first = indexBehindBlanks(chunk, at);
      if (chunk[first] === OPEN_BRACKET) {
        this.#partial.finish(NOTHING);
        this.#beginArray();
        return first + 1;
      }
      if (chunk[first] === OPEN_BRACE && !beginsLine) {
        // Behind another text on its line, of which there may be thousands.
        [this.#place, this.#isLineStart] = ['object', false];
        return first;
      }
      this.#isLineBlank = first === chunk.length;
    }
    const newline = chunk.indexOf(NEWLINE, at);
    if (newline < 0) {
      this.#partial.add(chunk.subarray(at));
      return chunk.length;
    }
    this.#line(this.#partial.finish(chunk.subarray(at, newline)), receiver);
    return newline + 1;
  }

  #line(line: Uint8Array | LongPiece, receiver: EventReceiver): void {
    this.#isLineBlank = true;
    if (line instanceof LongPiece) {
      takeLine(line, receiver);
      this.#hasTexts = true;
      return;
    }
    const first = indexBehindBlanks(line, 0);
    if (first === line.length) {
      receiver.newlines(1);
      return;
    }
    if (line[first] !== OPEN_BRACE) {
      takeLine(line, receiver);
    } else if (receiver.tryEvent(withoutReturn(line))) {
      receiver.newlines(1);
    } else {
      this.#place = 'object';
      this.#isLineStart = false;
      this.push(Buffer.concat([line, LINE_END]), receiver);
      return;
    }
    this.#hasTexts = true;
  }

  #stepObject(chunk: Buffer, from: number, receiver: EventReceiver): number {
    const at = this.#isLineStart ? behindNuls(chunk, from) : from;
    if (at === chunk.length || this.#endsBefore(chunk, at, receiver)) return at;
    const end = lineEnd(chunk, at);
    for (let index = at; index < end; index++) {
      this.#brackets.step(chunk[index]!);
      if (this.#brackets.isOutside && isClosing(chunk[index]!)) {
        this.#partial.add(chunk.subarray(at, index + 1));
        this.#place = 'behind object';
        return index + 1;
      }
    }
    this.#partial.add(chunk.subarray(at, end));
    this.#isLineStart = chunk[end - 1] === NEWLINE;
    return end;
  }

  /** Another text may begin behind an object; anything else makes one faulty event of it, up to the end of the line. */
  #stepBehindObject(chunk: Buffer, at: number, receiver: EventReceiver): number {
    let next = at;
    while (isBlank(chunk[next]) && chunk[next] !== NEWLINE) next++;
    const byte = chunk[next];
    if (byte === NEWLINE || isOpening(byte)) {
      this.#take(this.#partial.finish(chunk.subarray(at, next)), receiver);
      return next;
    }
    this.#partial.add(chunk.subarray(at, next));
    if (byte !== undefined) this.#place = 'rest';
    return next;
  }

  #stepRest(chunk: Buffer, at: number, receiver: EventReceiver): number {
    const newline = chunk.indexOf(NEWLINE, at);
    if (newline < 0) {
      this.#partial.add(chunk.subarray(at));
      return chunk.length;
    }
    this.#take(this.#partial.finish(chunk.subarray(at, newline)), receiver);
    return newline;
  }

  #stepArray(chunk: Buffer, from: number, receiver: EventReceiver): number {
    const at = this.#isLineStart ? behindNuls(chunk, from) : from;
    if (this.#partial.isEmpty) {
      let start = at;
      while (isBlank(chunk[start])) start++;
      if (start > at) {
        receiver.newlines(newlinesIn(chunk.subarray(at, start)));
        return start;
      }
    }
    if (at === chunk.length || this.#endsBefore(chunk, at, receiver)) return at;
    const end = lineEnd(chunk, at);
    for (let index = at; index < end; index++) {
      const byte = chunk[index]!;
      if (this.#brackets.isOutside && (byte === COMMA || byte === CLOSE_BRACKET)) {
        const element = this.#partial.finish(chunk.subarray(at, index));
        if (this.#isSeveral(element)) {
          this.#giveUp(element, receiver);
          return index;
        }
        this.#element(element, byte === COMMA, receiver);
        return index + 1;
      }
      this.#brackets.step(byte);
    }
    this.#partial.add(chunk.subarray(at, end));
    this.#isLineStart = chunk[end - 1] === NEWLINE;
    return end;
  }

  /** Whether the text ends before what comes next, because that begins another one or would make it too long. */
  #endsBefore(chunk: Buffer, at: number, receiver: EventReceiver): boolean {
    const beginsLine = this.#isLineStart && isOpening(chunk[at]) && !this.#partial.isEmpty;
    this.#isLineStart = false;
    if (beginsLine && this.#place === 'array' && this.#brackets.isOutside) {
      // A comma is missing: nothing says that the array goes on.
      this.#element(this.#partial.finish(NOTHING), false, receiver);
      return true;
    }
    const isFull = this.#restartAt !== null && this.#partial.length + lineEnd(chunk, at) - at > LARGEST_LINE_BYTES;
    const mayGoOn = !this.#partial.isLong && this.#readings < MAX_READINGS && this.#brackets.mayOpen;
    if (isFull || (beginsLine && !mayGoOn)) {
      this.#giveUp(this.#partial.finish(NOTHING), receiver);
      return true;
    }
    if (beginsLine) this.#restartAt ??= this.#partial.length;
    return false;
  }

  /** Whether a text whose brackets are closed neither is nor begins with JSON, and has a line that may be a text of its own. */
  #isSeveral(text: Uint8Array | LongPiece): text is Uint8Array {
    return this.#restartAt !== null && !(text instanceof LongPiece) && !isJson(text) && !beginsWithJson(text);
  }

  /** Takes a text for a faulty event, up to the first line that may be a text of its own, and goes on there. */
  #giveUp(whole: Uint8Array | LongPiece, receiver: EventReceiver): void {
    const restartAt = this.#restartAt;
    const readings = this.#readings + 1;
    this.#restartAt = null;
    const inArray = this.#place === 'array';
    const faulty = whole instanceof LongPiece || restartAt === null ? whole : whole.subarray(0, restartAt);
    this.#take(faulty, receiver);
    if (inArray) {
      [this.#place, this.#isLineStart] = ['array', true];
      this.#elements++;
    }
    if (!(whole instanceof LongPiece) && restartAt !== null) {
      const before = this.#chunkReadings;
      [this.#readings, this.#chunkReadings] = [readings, readings];
      this.push(Buffer.from(whole.buffer, whole.byteOffset + restartAt, whole.length - restartAt), receiver);
      this.#chunkReadings = before;
      if (this.#partial.isEmpty) this.#readings = before;
    }
  }

  /** Takes a whole text, and goes on on a line. */
  #take(text: Uint8Array | LongPiece, receiver: EventReceiver): void {
    if (this.#isSeveral(text)) {
      this.#giveUp(text, receiver);
      return;
    }
    if (text instanceof LongPiece) {
      receiver.tooLong(text);
      receiver.newlines(text.newlines);
    } else {
      receiver.event(withoutLineEnd(text));
      receiver.newlines(newlinesIn(text));
    }
    this.#hasTexts = true;
    this.#goOnWithLine();
  }

  #beginArray(): void {
    this.#arrays++;
    this.#elements = 0;
    [this.#place, this.#isLineStart] = ['array', false];
  }

  #element(bytes: Uint8Array | LongPiece, moreFollow: boolean, receiver: EventReceiver): void {
    if (takeElement(bytes, moreFollow || this.#elements > 0, receiver)) this.#elements++;
    this.#goOnWithLine();
    if (moreFollow) {
      this.#place = 'array';
    } else {
      this.#hasTexts = true;
    }
  }

  #goOnWithLine(): void {
    this.#place = 'line';
    this.#isLineBlank = true;
    this.#isLineStart = false;
    this.#restartAt = null;
    this.#readings = this.#chunkReadings;
    this.#brackets.reset();
  }
}

const isOpening = (byte: number | undefined): boolean => byte === OPEN_BRACE || byte === OPEN_BRACKET;
const isClosing = (byte: number): boolean => byte === CLOSE_BRACE || byte === CLOSE_BRACKET;

/** The index behind the newline of the line under way, or behind the part of it that is looked at together. */
function lineEnd(chunk: Buffer, at: number): number {
  const part = chunk.subarray(at, at + LINE_PART_BYTES);
  const newline = part.indexOf(NEWLINE);
  return at + (newline < 0 ? part.length : newline + 1);
}

/** Behind blanks of a line and bytes of a byte order mark. */
function indexBehindBlanks(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((isBlank(bytes[at]) && bytes[at] !== NEWLINE) || isOfMark(bytes[at])) at++;
  return at;
}

const isOfMark = (byte: number | undefined): boolean => byte === 0xef || byte === 0xbb || byte === 0xbf;

/** Numbers that Python and others write where JSON has none: they make a text no JSON, but not several. */
const NO_NUMBERS = /\b(?:NaN|Infinity)\b/g;

function isJson(text: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.length).toString().replaceAll(NO_NUMBERS, '0'));
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Whether JSON comes first in a text, whatever stands behind it: what is inside of it is no text of its own then. */
function beginsWithJson(text: Uint8Array): boolean {
  const brackets = new BracketTracker();
  const end = text.findIndex((byte) => {
    brackets.step(byte);
    return brackets.isOutside && isClosing(byte);
  });
  return end >= 0 && isJson(text.subarray(0, end + 1));
}

function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

function withoutLineEnd(text: Uint8Array): Uint8Array {
  return withoutReturn(text.at(-1) === NEWLINE ? text.subarray(0, -1) : text);
}
