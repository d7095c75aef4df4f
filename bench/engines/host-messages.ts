/** What the harness and the process of an engine say to each other. */
export interface HostCall {
  /** From 1; 0 is the host's word that it is open. */
  readonly id: number;
  readonly kind: 'version' | 'ingest' | 'settle' | 'search' | 'rest' | 'diskBytes' | 'peakMemoryBytes' | 'listen' | 'close';
  readonly order: unknown;
}

export type HostReply = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

export interface SearchOrder {
  readonly zone: number;
  readonly body: object;
  readonly withAnswer: boolean;
}

export interface TimedIngest {
  /** Until every event was stored and searchable. */
  readonly elapsedMs: number;
  /** What the process took of all cores together. */
  readonly cpuMs: number;
}

export interface TimedSearch {
  readonly elapsedMs: number;
  /** The text of the response, where it was asked for. */
  readonly answer?: string;
}
