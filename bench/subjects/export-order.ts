/** What the program under test is to do with its folder: fill it with the events of one zone, or serve it and have it exported. */
export type ExportOrder =
  | { readonly kind: 'fill'; readonly dataDir: string; readonly events: number; readonly memoryLimitMb: number }
  | {
      readonly kind: 'export';
      readonly dataDir: string;
      readonly events: number;
      readonly memoryLimitMb: number;
      readonly runs: readonly ExportRun[];
    };

export interface ExportRun {
  /** The `Accept` and the `Accept-Encoding` of the request. */
  readonly type: string;
  readonly encoding: string;
}

export interface ExportClientOrder extends ExportRun {
  readonly url: string;
  /** The body of the request. */
  readonly body: string;
}

/** What a client has seen of an export. */
export interface ExportClientReport {
  readonly toFirstMs: number;
  readonly elapsedMs: number;
  /** As they came over the wire, and unpacked. */
  readonly bytes: number;
  readonly plainBytes: number;
  /** Line ends; no text of the generated events has one. */
  readonly lines: number;
}

export interface ExportReport {
  /** Resident memory of the program: when the store was open, when it had answered some searches, and at most during each export. */
  readonly openRssBytes: number;
  readonly warmRssBytes: number;
  readonly exports: readonly (ExportClientReport & ExportRun & { readonly peakRssBytes: number })[];
}
