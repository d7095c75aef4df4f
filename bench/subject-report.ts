/** What a run of the program under test is to do. */
export interface SubjectOrder {
  readonly file: string;
  readonly events: number;
  /** An empty folder. */
  readonly dataDir: string;
  readonly memoryLimitMb: number;
  readonly searchRuns: number;
  readonly checkTotals: boolean;
}

export interface WorkloadReport {
  readonly name: string;
  readonly total: number;
  /** Milliseconds, run by run. */
  readonly times: readonly number[];
}

/** What it measured. */
export interface SubjectReport {
  readonly intake: { readonly elapsedMs: number; readonly searchMs: readonly number[] };
  /** Until the last event was searchable. */
  readonly peakRssBytes: number;
  /** Until the end, the searches over everything included. */
  readonly searchPeakRssBytes: number;
  readonly workloads: readonly WorkloadReport[];
  readonly wrongTotals: readonly string[];
  readonly segments: number;
  readonly segmentBytes: number;
}
