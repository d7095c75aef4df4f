/** Events of one answer of the feed, in its order. */
export interface FeedBatch {
  /** Newline-terminated lines, back to back, as the feed wrote them. */
  readonly bytes: Buffer;
  /** How many lines; at least 1. */
  readonly count: number;
}

/** Where a sink stands, as JSON that is kept beside the cursor; null where the sink has no place of its own. */
export type SinkPosition = Readonly<Record<string, unknown>> | null;

/** Keeps a position durably beside the cursor of the last batch that was accepted: what a restart begins with. */
export type RecordPosition = (position: SinkPosition) => Promise<void>;

/** Somewhere that takes events. One batch at a time. */
export interface Sink {
  /** What messages call it, without secrets. */
  readonly name: string;
  /**
   * Resolves once the batch is accepted, with the position that belongs to it. Throws DeliveryError; a batch that was not accepted may be
   * delivered again, and may have arrived in part. Where the signal is aborted, the delivery is given up and rejects with its reason.
   */
  deliver(batch: FeedBatch, signal: AbortSignal): Promise<SinkPosition>;
  close(): Promise<void>;
}
