import { LongPiece, PartialEvent } from '../event/partial-event.ts';
import { CARRIAGE_RETURN, isBlank, NEWLINE, OPEN_BRACE } from '../event/scan/json-bytes.ts';
import type { EventReceiver, EventSplitter } from './event-splitter.ts';

/** One event a line. Lines end with LF or CRLF, the last one with either or neither; blank lines are no events. */
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
