/** What the program is to do for a range of time in which events come in with the clock. */
export interface SustainedOrder {
  readonly dataDir: string;
  /** NDJSON. */
  readonly file: string;
  readonly eventsPerSecond: number;
  /** Unix milliseconds: what the program takes for the present when the first event comes. */
  readonly fromMs: number;
  readonly memoryLimitMb: number;
}

/** What went on in a part of the range. */
export interface SustainedRow {
  /** When the part ended, since the first event. */
  readonly endedMs: number;
  /** That became searchable. */
  readonly eventsPerSecond: number;
  readonly unflushedEvents: number;
  readonly segments: number;
  /** Milliseconds of each of a dashboard's searches. */
  readonly searchMs: readonly number[];
  /** Of all threads, searches included, for each second. */
  readonly cpuMsPerSecond: number;
  readonly residentBytes: number;
}
