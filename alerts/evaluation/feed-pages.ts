import type { FeedLine, FeedRequest } from '../../store/event-store.ts';
import { type FeedEvent, readFields } from '../../store/feed-event.ts';

/** Where a page begins: behind a cursor, or at a time of the intake, Unix ms UTC. */
export type PagePlace = { readonly cursor: string } | { readonly atMs: number };

/** A page of the feed that rules want. */
export interface WantedPage extends Required<Pick<FeedRequest, 'zones' | 'where'>> {
  /** Tells it apart from the pages before and after it. */
  readonly key: string;
  /** The ids of the rules that want it, with commas; "" where it is read for its time alone. */
  readonly rules: string;
  readonly after: PagePlace | 'newest';
  /** The cursor behind which no event of the page may be; null: none. */
  readonly until: string | null;
}

/** A page that was read. */
export interface PageOfEvents {
  readonly key: string;
  /** The cursor of its end. */
  readonly end: string;
  /** Whether it has all wanted events up to `until`. */
  readonly hasReachedUntil: boolean;
  readonly completeToMs: number;
  readonly unreadable: number;
  /** The lines of its events, one behind the other; where each ends, and when it was taken in, Unix ms UTC. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: readonly number[];
  readonly ingestedAtMs: readonly number[];
}

/** Copies lines, which are parts of larger Buffers, one behind the other, for the thread. */
export function packed(lines: readonly FeedLine[]): Pick<PageOfEvents, 'bytes' | 'ends' | 'ingestedAtMs'> {
  let length = 0;
  const ends = lines.map(({ start, end }) => {
    length += end - start;
    return length;
  });
  const bytes = new Uint8Array(length);
  for (const [nth, { bytes: from, start, end }] of lines.entries()) bytes.set(from.subarray(start, end), ends[nth - 1] ?? 0);
  return { bytes, ends, ingestedAtMs: lines.map(({ ingestedAtMs }) => ingestedAtMs) };
}

/** The events of a page, which are parsed one by one. */
export function* eventsIn({ bytes, ends, ingestedAtMs }: PageOfEvents): Generator<FeedEvent, void> {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const [nth, end] of ends.entries()) {
    yield readFields({ sequence: 0n, ingestedAtMs: ingestedAtMs[nth] ?? 0, bytes: lines, start: ends[nth - 1] ?? 0, end });
  }
}
