import type { RecordValues } from '../event/event-kernel.ts';
import { LARGEST_LINE_BYTES } from '../event/event-verdict.ts';
import { digestId } from '../event/log-id.ts';
import { LongPiece, PartialEvent } from '../event/partial-event.ts';
import type { EventReceiver, EventSplitter, LineConverter } from './event-splitters.ts';

/**
 * Hands on records whose places are known as the chunks come in which they end. Their places ascend, and the
 * chunks are those of the bytes that they lie in. Each record counts as a line.
 */
export class PlacedRecords implements EventSplitter {
  readonly #records: RecordValues;
  readonly #converter: LineConverter;
  /** A record that is longer than any event, which is hashed chunk by chunk. */
  readonly #long = new PartialEvent();
  #position = 0;
  #next = 0;

  constructor(records: RecordValues, converter: LineConverter) {
    [this.#records, this.#converter] = [records, converter];
  }

  push(chunk: Buffer, receiver: EventReceiver): void {
    const { bytes, count, starts, ends } = this.#records;
    const from = this.#position;
    this.#position += chunk.length;
    let end = this.#next;
    while (end < count && ends[end]! <= this.#position) end++;
    const ofChunk = { ...this.#records, count: end };
    for (let at = this.#next; at < end; at++) {
      const before = this.#converter.eventCount;
      at = this.#converter.convertRecords(ofChunk, at, (index) => digestId(bytes.subarray(starts[index], ends[index])));
      receiver.converted(this.#converter.eventCount - before);
      if (at === end) break;
      this.#takeOne(at, from, receiver);
      receiver.newlines(1);
    }
    this.#next = end;
    if (end < count && this.#isLong(end)) this.#long.add(bytes.subarray(Math.max(from, starts[end]!), this.#position));
  }

  end(): void {}

  #isLong(index: number): boolean {
    return this.#records.ends[index]! - this.#records.starts[index]! > LARGEST_LINE_BYTES;
  }

  /** Takes a record that ends in the chunk that begins at `from`. */
  #takeOne(index: number, from: number, receiver: EventReceiver): void {
    const { bytes, starts, ends } = this.#records;
    if (!this.#isLong(index)) {
      receiver.event(bytes.subarray(starts[index], ends[index]));
      return;
    }
    const whole = this.#long.finish(bytes.subarray(Math.max(from, starts[index]!), ends[index]));
    if (whole instanceof LongPiece) receiver.tooLong(whole);
    else receiver.event(whole);
  }
}
