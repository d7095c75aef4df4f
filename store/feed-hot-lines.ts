import { PACKED_FIELDS } from '../query/packed-log.ts';
import type { FeedLine } from './event-store.ts';

const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;

/** What comes before the value of a packed field in the line of an event, whose first member is none of them. */
const MEMBERS = PACKED_FIELDS.map((name) => Buffer.from(`,"${name}":"`));

/** Lines that end in `,"log":}`, with the log of each put in, whose packed bytes `logOf` knows: the first of them that have `mostBytes` together, at least one. */
export function withLogs(lines: readonly FeedLine[], logOf: (sequence: bigint) => Buffer, mostBytes: number): FeedLine[] {
  const writer = new LineWriter(lines.reduce((sum, { start, end }) => sum + 3 * (end - start), 0));
  const ends: number[] = [];
  for (const line of lines) {
    writer.copy(line.bytes, line.start, line.end - 1);
    copyUnpacked(logOf(line.sequence), line, writer);
    writer.put(CLOSE_BRACE);
    if (writer.used > mostBytes && ends.length > 0) {
      break;
    }
    ends.push(writer.used);
  }
  return ends.map((end, index) => {
    const { sequence, ingestedAtMs } = lines[index] as FeedLine;
    return { sequence, ingestedAtMs, bytes: writer.bytes, start: ends[index - 1] ?? 0, end };
  });
}

/** A value that was packed stands in JSON as it is, so its bytes are those in the line. */
function copyUnpacked(log: Buffer, { bytes, start }: FeedLine, writer: LineWriter): void {
  let from = 0;
  for (let at = 0; at < log.length; at += 1) {
    const member = MEMBERS[(log[at] as number) - 1];
    if (member !== undefined) {
      const value = bytes.indexOf(member, start) + member.length;
      writer.copy(log, from, at);
      writer.copy(bytes, value, bytes.indexOf(QUOTE, value));
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
