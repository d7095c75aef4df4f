/** What a Kafka source has done since it started. */
export interface KafkaCounters {
  /** Messages taken in, dead letters and expired events included. */
  messages: number;
  /** Batches stored. */
  batches: number;
  /** Stored offsets that their topic did not have (any more): messages were lost before they could be read, or the topic was made anew. */
  outOfRangeOffsets: number;
  /** Times the connection was built up again after a failure. */
  reconnects: number;
  /** Times a partition was held back because the store was behind. */
  pauses: number;
}

export function kafkaCounters(): KafkaCounters {
  return { messages: 0, batches: 0, outOfRangeOffsets: 0, reconnects: 0, pauses: 0 };
}
