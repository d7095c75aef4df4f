import type { FeedLine } from '../../store/event-store.ts';
import type { FeedFormatName } from '../formats/feed-format.ts';

/** Events on their way into a thread that writes them in a format: an array a member, and all their JSON in one. */
export interface FormatTask {
  readonly format: FeedFormatName;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where in the bytes each event ends and the next one begins. */
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly sequences: BigInt64Array<ArrayBuffer>;
  readonly ingestedAtMs: Float64Array<ArrayBuffer>;
}

export function formatTask(format: FeedFormatName, lines: readonly FeedLine[]): FormatTask {
  const bytes = Buffer.allocUnsafeSlow(lines.reduce((sum, { start, end }) => sum + end - start, 0));
  const ends = new Uint32Array(lines.length);
  const sequences = new BigInt64Array(lines.length);
  const ingestedAtMs = new Float64Array(lines.length);
  let at = 0;
  for (const [place, line] of lines.entries()) {
    at += line.bytes.copy(bytes, at, line.start, line.end);
    ends[place] = at;
    sequences[place] = line.sequence;
    ingestedAtMs[place] = line.ingestedAtMs;
  }
  return { format, bytes, ends, sequences, ingestedAtMs };
}

/** What of a task can be handed over instead of being copied. */
export function transferredWith({ bytes, ends, sequences, ingestedAtMs }: FormatTask): ArrayBuffer[] {
  return [bytes.buffer, ends.buffer, sequences.buffer, ingestedAtMs.buffer];
}

export function linesOf({ bytes, ends, sequences, ingestedAtMs }: FormatTask): FeedLine[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from(ends, (end, place) => ({
    sequence: sequences[place] ?? 0n,
    ingestedAtMs: ingestedAtMs[place] ?? 0,
    bytes: buffer,
    start: ends[place - 1] ?? 0,
    end,
  }));
}
