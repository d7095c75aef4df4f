import type { DuckDBBlobValue } from '@duckdb/node-api';
import { type FeedStretch, LINE_END, SEQUENCE_END } from '../sql/feed-statements.ts';
import type { FeedLine } from './event-store.ts';
import { type IngestTime, ingestClock } from './feed-ingest-times.ts';

/** The events in texts of `LINES` that have a sequence above `after` and up to `upTo`, in order. */
export function linesIn(
  texts: readonly DuckDBBlobValue[],
  { after, upTo }: Omit<FeedStretch, 'zones'>,
  times: readonly IngestTime[],
): FeedLine[] {
  const places: Place[] = [];
  for (const { bytes } of texts) {
    addPlaces(places, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  const clock = ingestClock(times);
  const lines: FeedLine[] = [];
  // As numbers they are sorted twice as fast.
  for (const { number, bytes, start, end } of places.sort((a, b) => a.number - b.number)) {
    const sequence = BigInt(number);
    if (sequence > after && sequence <= upTo) {
      lines.push({ sequence, ingestedAtMs: clock(sequence), bytes, start, end });
    }
  }
  return lines;
}

interface Place extends Pick<FeedLine, 'bytes' | 'start' | 'end'> {
  readonly number: number;
}

function addPlaces(places: Place[], bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    let number = 0;
    let digit = bytes[at] as number;
    while (digit !== SEQUENCE_END) {
      number = number * 10 + digit - 0x30;
      at += 1;
      digit = bytes[at] as number;
    }
    const found = bytes.indexOf(LINE_END, at);
    const end = found === -1 ? bytes.length : found;
    places.push({ number, bytes, start: at + 1, end });
    at = end + 1;
  }
}
