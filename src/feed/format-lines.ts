import { move, transferableSymbol, valueSymbol } from 'piscina';
import { NEWLINE } from '../../query/json-bytes.ts';
import type { FeedLine } from '../../store/event-store.ts';
import { type EventWriter, FEED_FORMAT_NAMES, FEED_FORMATS, type FeedFormatName } from '../formats/feed-formats.ts';
import { memoizeByText } from '../formats/memoize.ts';
import { LineLimit, type LongLines, MAX_BYTES_PER_UNIT } from './line-limit.ts';

/** The size of one chunk of an answer. A longer event makes a larger chunk. */
const CHUNK_BYTES = 256 * 1024;

/** Groups events into pieces of about one chunk each. */
export function* pieces(lines: readonly FeedLine[]): Iterable<readonly FeedLine[]> {
  for (let from = 0; from < lines.length; ) {
    let [to, size] = [from, 0];
    while (to < lines.length && size < CHUNK_BYTES) {
      const { start, end } = lines[to] as FeedLine;
      size += end - start;
      to += 1;
    }
    yield lines.slice(from, to);
    from = to;
  }
}

/** Copies stored events as lines. Bytes, because a socket converts texts one by one, at twice the cost. */
export function copiedChunk(lines: readonly FeedLine[]): Buffer {
  const chunk = Buffer.allocUnsafeSlow(lines.reduce((sum, { start, end }) => sum + end - start + 1, 0));
  let offset = 0;
  for (const { bytes, start, end } of lines) {
    offset += bytes.copy(chunk, offset, start, end);
    chunk[offset] = NEWLINE;
    offset += 1;
  }
  return chunk;
}

/**
 * Writes events as lines of a format. Each line is converted to bytes at once, while it is in the processor's cache; converting a whole
 * chunk of text takes twice as long.
 */
export function* writtenChunks(lines: readonly FeedLine[], writeEvent: EventWriter, limit: LineLimit): Iterable<Buffer> {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let offset = 0;
  for (const line of lines) {
    const text = limit.written(line, writeEvent);
    const maxBytes = text.length * MAX_BYTES_PER_UNIT + 1;
    if (offset + maxBytes > chunk.length) {
      if (offset > 0) yield chunk.subarray(0, offset);
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, maxBytes));
      offset = 0;
    }
    offset += chunk.write(text, offset);
    chunk[offset] = NEWLINE;
    offset += 1;
  }
  if (offset > 0) yield chunk.subarray(0, offset);
}

/** Makes a function that returns the writer of a format, always the same one, for the sake of its caches. */
export function writersByFormat(): (format: FeedFormatName) => EventWriter {
  return memoizeByText(FEED_FORMAT_NAMES.length, (format: FeedFormatName) => FEED_FORMATS[format].createWriter());
}

/** How an answer has its lines. */
export interface LineForm {
  readonly format: FeedFormatName;
  /** The most that a line may take, in bytes without its end (`LineLimit`); null: any length. */
  readonly maxLine: number | null;
}

/** Events for a thread that writes them in a format, as arrays that can be transferred. */
export interface FormatTask extends LineForm {
  /** The JSON of all events, back to back. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The offset in `bytes` at which each event ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly sequences: BigInt64Array<ArrayBuffer>;
  readonly ingestedAtMs: Float64Array<ArrayBuffer>;
}

export function formatTask({ format, maxLine }: LineForm, lines: readonly FeedLine[]): FormatTask {
  const bytes = Buffer.allocUnsafeSlow(lines.reduce((sum, { start, end }) => sum + end - start, 0));
  const ends = new Uint32Array(lines.length);
  const sequences = new BigInt64Array(lines.length);
  const ingestedAtMs = new Float64Array(lines.length);
  let offset = 0;
  for (const [index, line] of lines.entries()) {
    offset += line.bytes.copy(bytes, offset, line.start, line.end);
    ends[index] = offset;
    sequences[index] = line.sequence;
    ingestedAtMs[index] = line.ingestedAtMs;
  }
  return { format, maxLine, bytes, ends, sequences, ingestedAtMs };
}

/** The memory of a task that can be transferred to a thread instead of copied. */
export function transferListOf({ bytes, ends, sequences, ingestedAtMs }: FormatTask): ArrayBuffer[] {
  return [bytes.buffer, ends.buffer, sequences.buffer, ingestedAtMs.buffer];
}

function linesOf({ bytes, ends, sequences, ingestedAtMs }: FormatTask): FeedLine[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from(ends, (end, index) => ({
    sequence: sequences[index] ?? 0n,
    ingestedAtMs: ingestedAtMs[index] ?? 0,
    bytes: buffer,
    start: ends[index - 1] ?? 0,
    end,
  }));
}

/** The lines of a task. */
export interface FormatResult {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly longLines: LongLines;
}

/** The worker of a thread of `FormatThreads`: writes the events of a task as lines, and transfers them back. */
export function startWork(): (task: FormatTask) => FormatResult {
  const writerOf = writersByFormat();
  return (task) => {
    const limit = new LineLimit(task.maxLine);
    const chunks = [...writtenChunks(linesOf(task), writerOf(task.format), limit)];
    // Buffers from Node's shared pool cannot be transferred.
    const written = Buffer.allocUnsafeSlow(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let offset = 0;
    for (const chunk of chunks) {
      offset += chunk.copy(written, offset);
    }
    const result: FormatResult = { bytes: written, longLines: limit.counts };
    return move({ [transferableSymbol]: written.buffer, [valueSymbol]: result }) as unknown as FormatResult;
  };
}
