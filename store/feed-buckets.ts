import type { DuckDBValue } from '@duckdb/node-api';
import { PAGE_BYTES } from './feed-rows.ts';

/** Events of a window with neighbouring sequences. */
export interface FeedBucket {
  readonly number: number;
  /** Everything up to here is in this bucket or one before it. */
  readonly upTo: bigint;
  readonly events: number;
  /** Of those that are one text together. */
  readonly bytes: number;
  /** The large ones, each by itself, by ascending sequence. */
  readonly large: readonly { readonly sequence: bigint; readonly bytes: number }[];
}

/** The buckets that a page is read from, and how far it goes. */
export interface BucketPage {
  readonly first: number;
  readonly last: number;
  /** Inclusive. */
  readonly upTo: bigint;
}

/** Buckets of the rows of `windowRowsStatement`, for a stretch of buckets that are so wide. */
export function feedBuckets(
  rows: readonly (readonly DuckDBValue[])[],
  { after, upTo }: { readonly after: bigint; readonly upTo: bigint },
  width: number,
): FeedBucket[] {
  return [...Map.groupBy(rows, ([number]) => Number(number))].map(([number, parts], index, all) => {
    const end = after + BigInt((number + 1) * width);
    const common = parts.find(([, sequence]) => sequence === null);
    return {
      number,
      upTo: index === all.length - 1 || end > upTo ? upTo : end,
      events: parts.reduce((sum, [, , events]) => sum + Number(events), 0),
      bytes: Number(common?.[3] ?? 0),
      large: parts
        .filter(([, sequence]) => sequence !== null)
        .map(([, sequence, , bytes]) => ({ sequence: sequence as bigint, bytes: Number(bytes) })),
    };
  });
}

/**
 * What of the buckets comes behind `after`: whole ones as long as they are a page together and have no more than `limit` events, or else the beginning of one
 * up to the large event that would be too much. Undefined where nothing is left.
 */
export function choosePage(buckets: readonly FeedBucket[], after: bigint, limit: number): BucketPage | undefined {
  const left = buckets.slice(firstBehind(buckets, after));
  const [first] = left;
  if (first === undefined) {
    return undefined;
  }
  let [last, events, bytes] = [first, first.events, sizeBehind(first, after)];
  if (bytes > PAGE_BYTES) {
    return { first: first.number, last: first.number, upTo: endWithin(first, after) };
  }
  for (const bucket of left.slice(1)) {
    events += bucket.events;
    bytes += sizeBehind(bucket, after);
    if (events > limit || bytes > PAGE_BYTES) {
      break;
    }
    last = bucket;
  }
  return { first: first.number, last: last.number, upTo: last.upTo };
}

function firstBehind(buckets: readonly FeedBucket[], after: bigint): number {
  const place = buckets.findIndex(({ upTo }) => upTo > after);
  return place === -1 ? buckets.length : place;
}

function sizeBehind({ bytes, large }: FeedBucket, after: bigint): number {
  return large.reduce((sum, event) => (event.sequence > after ? sum + event.bytes : sum), bytes);
}

function endWithin({ bytes, large, upTo }: FeedBucket, after: bigint): bigint {
  const behind = large.filter(({ sequence }) => sequence > after);
  let size = bytes;
  const over = behind.findIndex((event, index) => {
    size += event.bytes;
    return size > PAGE_BYTES && index > 0;
  });
  return over === -1 ? upTo : (behind[over]?.sequence ?? upTo) - 1n;
}
