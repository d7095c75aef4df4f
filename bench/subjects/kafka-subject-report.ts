/** What the program that reads from Kafka is to do. */
export interface KafkaOrder {
  readonly brokers: string;
  /** The topic that holds all the events when the program starts. */
  readonly backlog: string;
  readonly events: number;
  /** An empty topic, for single events. */
  readonly fresh: string;
  readonly latencies: number;
  /** Whether to search every 100 ms meanwhile. */
  readonly searches: boolean;
  /** An empty folder. */
  readonly dataDir: string;
  readonly memoryLimitMb: number;
}

/** What it measured; times in milliseconds. */
export interface KafkaReport {
  /** From the start of the source to the first message. */
  readonly toFirstMs: number;
  /** From the first message until the last event was durable and searchable. */
  readonly elapsedMs: number;
  readonly cpuMicros: number;
  readonly searchMs: readonly number[];
  readonly batches: number;
  readonly pauses: number;
  /** Until the backlog was searchable. */
  readonly peakRssBytes: number;
  /** From the producer's call until a search finds the event, event by event. */
  readonly freshMs: readonly number[];
}
