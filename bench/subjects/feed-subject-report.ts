/** What the program that serves the feed is started with. */
export interface FeedOrder {
  /** NDJSON. */
  readonly file: string;
  readonly memoryLimitMb: number;
}

/** What it has used so far. */
export interface FeedUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
}
