import { CLOSE_BRACE, QUOTE } from '../../../query/json-bytes.ts';
import { PACKED_FIELDS } from '../../../query/packed-log.ts';
import type { FeedLine } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import { PackedLog } from '../blob/unpacked-log.ts';
import { type PackedEvents, SPAN_NUMBERS } from './lowest-events.ts';

/** The bytes before the value of each packed field in the head of an event, whose first member is none of them. */
const MEMBERS = PACKED_FIELDS.map((name) => Buffer.from(`,"${name}":"`));

/** What a head ends with. */
const LOG_MEMBER = ',"log":';

/** Room behind a page for the last event, which may not fit into the page: without it, that event would cost a copy of all before it. */
const SPARE_BYTES = 16 * 1024;

/** The wanted events: at most `limit` from index `first` on, and no more than `maxBytes` of lines, but at least one event. */
export interface WantedLines {
  readonly first: number;
  readonly limit: number;
  readonly maxBytes: number;
  /** Whether the lines have logs. */
  readonly hasLogs: boolean;
}

/**
 * Writes events as lines of JSON with their logs unpacked, or without logs. `clock` returns the ingest time of an event, in Unix
 * milliseconds. Throws `StoreError` (`corrupt`) where the log of an event is missing.
 */
export function packedEventLines(
  events: PackedEvents,
  { first, limit, maxBytes, hasLogs }: WantedLines,
  clock: (sequence: bigint) => number,
): FeedLine[] {
  const { after, sequences, bytes, spans } = events;
  const writer = new LineWriter(bytes, Math.min(maxBytes, 2 * bytes.length) + SPARE_BYTES);
  const ends: number[] = [];
  const last = Math.min(events.count, first + limit);
  for (let index = first; index < last; index += 1) {
    const span = index * SPAN_NUMBERS;
    const [head, headEnd] = [spans[span] as number, spans[span + 1] as number];
    const [log, logEnd] = [spans[span + 2] as number, spans[span + 3] as number];
    if (logEnd === 0 && hasLogs) {
      throw new StoreError('corrupt', `the log of the event ${after + BigInt(sequences[index] as number)} was not found`);
    }
    writer.copy(head, hasLogs ? headEnd : headEnd - LOG_MEMBER.length);
    if (hasLogs) {
      writer.copyUnpacked(log, logEnd, head);
    }
    writer.put(CLOSE_BRACE);
    if (writer.used > maxBytes && ends.length > 0) {
      break;
    }
    ends.push(writer.used);
  }
  return ends.map((end, index) => {
    const sequence = after + BigInt(sequences[first + index] as number);
    return { sequence, ingestedAtMs: clock(sequence), bytes: writer.bytes, start: ends[index - 1] ?? 0, end };
  });
}

class LineWriter {
  readonly #source: Buffer;
  bytes: Buffer;
  used = 0;

  constructor(source: Buffer, bytes: number) {
    this.#source = source;
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  copy(start: number, end: number): void {
    this.#makeRoom(end - start);
    this.used += this.#source.copy(this.bytes, this.used, start, end);
  }

  /** Copies a log and replaces its marks by values of the head. Packed values need no escapes in JSON, so their bytes are copied. */
  copyUnpacked(start: number, end: number, head: number): void {
    const source = this.#source;
    const log = new PackedLog(source.subarray(start, end), (nth) => {
      const member = MEMBERS[nth] as Buffer;
      const value = source.indexOf(member, head) + member.length;
      return source.subarray(value, source.indexOf(QUOTE, value));
    });
    this.#makeRoom(log.size);
    log.writeTo(this.bytes, this.used);
    this.used += log.size;
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
