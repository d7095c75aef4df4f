import { PACKED_FIELDS } from '../../../query/packed-log.ts';
import type { FeedLine } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { PackedEvent } from './lowest-events.ts';

const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;

/** What comes before the value of a packed field in the head of an event, whose first member is none of them. */
const MEMBERS = PACKED_FIELDS.map((name) => Buffer.from(`,"${name}":"`));

/**
 * Writes the first events as lines of JSON with their logs unpacked, up to `maxBytes` together, at least one event.
 * `clock` says when an event was taken in.
 */
export function feedLines(events: readonly PackedEvent[], clock: (sequence: bigint) => number, maxBytes: number): FeedLine[] {
  const writer = new LineWriter(events.reduce((sum, { head, log }) => sum + head.length + (log?.length ?? 0), 0));
  const ends: number[] = [];
  for (const { sequence, head, log } of events) {
    if (log === undefined) {
      throw new StoreError('corrupt', `the log of the event ${sequence} was not found`);
    }
    writer.copy(head, 0, head.length);
    copyUnpacked(log, head, writer);
    writer.put(CLOSE_BRACE);
    if (writer.used > maxBytes && ends.length > 0) {
      break;
    }
    ends.push(writer.used);
  }
  return ends.map((end, index) => {
    const { sequence } = events[index] as PackedEvent;
    return { sequence, ingestedAtMs: clock(sequence), bytes: writer.bytes, start: ends[index - 1] ?? 0, end };
  });
}

/** A value that was packed stands in JSON as it is, so its bytes are those in the head. */
function copyUnpacked(log: Buffer, head: Buffer, writer: LineWriter): void {
  let from = 0;
  for (let at = 0; at < log.length; at += 1) {
    const member = MEMBERS[(log[at] as number) - 1];
    if (member !== undefined) {
      const value = head.indexOf(member) + member.length;
      writer.copy(log, from, at);
      writer.copy(head, value, head.indexOf(QUOTE, value));
      from = at + 1;
    }
  }
  writer.copy(log, from, log.length);
}

class LineWriter {
  bytes: Buffer;
  used = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  copy(source: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start);
    this.used += source.copy(this.bytes, this.used, start, end);
  }

  put(byte: number): void {
    this.#makeRoom(1);
    this.bytes[this.used] = byte;
    this.used += 1;
  }

  #makeRoom(bytes: number): void {
    if (this.used + bytes > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.used + bytes));
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
  }
}
