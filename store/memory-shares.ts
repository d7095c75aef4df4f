/** The bytes of a MiB, in which shares are. */
export const MEBIBYTE = 1024 * 1024;

/**
 * With less DuckDB cannot sort the events of a usual store, an excerpt of the feed would hold less than a page, and the longest values of
 * all facets would have no room.
 */
const LEAST_MB = { searches: 256, merges: 128, feedExcerpt: 4, clickhouseResults: 384 } as const;
/** Shares above these would save little reading. */
const MOST_MB = { cachedGroups: 64, feedExcerpt: 108, clickhouseExcerpt: 64, feedPages: 96 } as const;

/** So many excerpts of the feed are held: two of one reader, which it reads and which comes next, and another one of a second reader. */
export const MAX_FEED_EXCERPTS = 3;
/** Making an excerpt takes so many times what it holds, beside the excerpts that are held. */
const MAKING_AN_EXCERPT = 0.75;

/** What the parts of the program may take of `MEMORY_LIMIT_MB`, in MiB. At 1,024 and above they are all of it, or less. */
export interface MemoryShares {
  /** The share of the DuckDB that searches and the feed read with, which has the unflushed events, the cached groups and the footers. */
  readonly searchesShareMb: number;
  /** The share of the cached groups, of that of searches. */
  readonly cachedGroupsShareMb: number;
  /** The share of the footers of segments that are read before a search needs them, of that of searches. */
  readonly footersShareMb: number;
  /** The share of the DuckDB that merges segments. */
  readonly mergesShareMb: number;
  /** The share of the index that tells duplicates of recent events apart. */
  readonly dedupIndexShareMb: number;
  /** The share of one excerpt of the feed. */
  readonly feedExcerptShareMb: number;
  /** The share of all pages of the feed that wait for their readers. */
  readonly feedPagesShareMb: number;
  /** The share of all answers that are read and not written yet. */
  readonly answersShareMb: number;
}

/** Divides `MEMORY_LIMIT_MB`. */
export function memoryShares(memoryLimitMb: number): MemoryShares {
  const sixteenth = memoryLimitMb / 16;
  return {
    searchesShareMb: Math.max(Math.min(LEAST_MB.searches, memoryLimitMb), 8 * sixteenth),
    cachedGroupsShareMb: Math.min(MOST_MB.cachedGroups, sixteenth),
    footersShareMb: sixteenth,
    mergesShareMb: Math.max(LEAST_MB.merges, 2 * sixteenth),
    dedupIndexShareMb: 3 * sixteenth,
    feedExcerptShareMb: Math.max(LEAST_MB.feedExcerpt, Math.min(MOST_MB.feedExcerpt, sixteenth / (MAX_FEED_EXCERPTS + MAKING_AN_EXCERPT))),
    feedPagesShareMb: Math.min(MOST_MB.feedPages, sixteenth),
    answersShareMb: sixteenth,
  };
}

/** The share of one excerpt of the feed of a store on ClickHouse, in MiB: it has what DuckDB does not take. */
export function clickhouseExcerptShareMb(memoryLimitMb: number): number {
  return Math.min(MOST_MB.clickhouseExcerpt, memoryLimitMb / 16);
}

/** The share of the results of ClickHouse that answers are made of, in MiB. */
export function clickhouseResultsShareMb(memoryLimitMb: number): number {
  return Math.max(LEAST_MB.clickhouseResults, (6 * memoryLimitMb) / 16);
}

/** A result takes up to four times its bytes: its text and its values at once, each with two bytes for a letter. */
const COPIES_OF_A_RESULT = 4;

/** The part of that share for the bytes that these results come as, in MiB. */
export function clickhouseResultBytesShareMb(memoryLimitMb: number): number {
  return clickhouseResultsShareMb(memoryLimitMb) / COPIES_OF_A_RESULT;
}

/** The share of all excerpts of the feed of a store on ClickHouse, in MiB: one that is being made is there as pieces, too. */
export function clickhouseExcerptsShareMb(memoryLimitMb: number): number {
  return (MAX_FEED_EXCERPTS + 2) * clickhouseExcerptShareMb(memoryLimitMb);
}

/** The share of all excerpts of the feed, and of one that is being made, in MiB. */
export function feedExcerptsShareMb({ feedExcerptShareMb }: Pick<MemoryShares, 'feedExcerptShareMb'>): number {
  return (MAX_FEED_EXCERPTS + MAKING_AN_EXCERPT) * feedExcerptShareMb;
}

/** What the program takes beside `MEMORY_LIMIT_MB` at most, in MiB. */
export const MEMORY_BESIDE_MB = {
  /** The logs of events that are not flushed. */
  unflushedLogs: 256,
  /** Events that are received and not searchable yet, and memory that is kept for the next ones. */
  pending: 128,
  /** Pages of rows, counts of segments and counts of the explorer. */
  caches: 64,
  /** Bodies and events whose end has not come, and their decoders. */
  bodies: 128,
  /** What each of them may hold uncounted. */
  bodyStarts: 64,
  /** Events that wait for the clients of tails. */
  tails: 64,
  /** Records that are mapped and envelopes of doors that are taken apart, on two threads, and what becomes of these records. */
  mapping: 288,
  /** What the rules of alerts count, on a thread. */
  alerts: 384,
  /** The program with its other threads, and what the reads under way hold. */
  program: 264,
} as const;

/** The most resident memory of the program, in MiB, without its proxies: docs/limits.md, "Memory". */
export function residentMemoryMb(memoryLimitMb: number): number {
  const shares = memoryShares(memoryLimitMb);
  const { searchesShareMb, mergesShareMb, dedupIndexShareMb, feedPagesShareMb, answersShareMb } = shares;
  const beside = Object.values(MEMORY_BESIDE_MB).reduce((sum, mb) => sum + mb, 0);
  return searchesShareMb + mergesShareMb + dedupIndexShareMb + feedExcerptsShareMb(shares) + feedPagesShareMb + answersShareMb + beside;
}

/** The same where the store is on ClickHouse, which takes memory of its own. */
export function residentClickhouseMb(memoryLimitMb: number): number {
  const { feedPagesShareMb, answersShareMb } = memoryShares(memoryLimitMb);
  const shares = clickhouseResultsShareMb(memoryLimitMb) + clickhouseExcerptsShareMb(memoryLimitMb) + feedPagesShareMb + answersShareMb;
  const { unflushedLogs: _, caches: __, ...beside } = MEMORY_BESIDE_MB;
  return shares + Object.values(beside).reduce((sum, mb) => sum + mb, 0);
}
