import type { EventReceiver, EventSplitter } from './event-splitter.ts';
import { CARRIAGE_RETURN, isBlank, NEWLINE, OPEN_BRACE } from './json-bytes.ts';
import { PartialEvent } from './partial-event.ts';

/** One event a line. Lines end with LF or CRLF, the last one with either or neither; blank lines are no events. */
export class NdjsonSplitter implements EventSplitter {
  readonly #partial = new PartialEvent();

  push(chunk: Buffer, receiver: EventReceiver): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#line(this.#partial.finish(chunk.subarray(start, end)), receiver);
      start = end + 1;
    }
    this.#partial.add(chunk.subarray(start));
  }

  end(receiver: EventReceiver): void {
    this.#line(this.#partial.finish(new Uint8Array(0)), receiver);
  }

  #line(line: Uint8Array, receiver: EventReceiver): void {
    const text = line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
    if (text[0] === OPEN_BRACE || !text.every(isBlank)) {
      receiver.event(text);
    }
  }
}
