/** What the program did during one minute. */
export interface ProgramMinute {
  /** The minute's start, Unix ms UTC. */
  readonly startMs: number;
  /** Of one core: 100 is one core busy for the whole minute. */
  readonly cpuPercent: number;
  /** Resident bytes at the minute's end. */
  readonly memoryBytes: number;
  readonly requests: number;
  /** Mean time to an answer; null where nothing was answered. */
  readonly latencyMs: number | null;
  /** Bytes of answers sent. */
  readonly sentBytes: number;
  /** Of the file system that DATA_DIR is on, at the minute's end. */
  readonly volumeUsedBytes: number;
  readonly volumeCapacityBytes: number;
}

/** The running program as the control plane shows it: measured, nothing invented. */
export interface ProgramView {
  /** Unix ms UTC. */
  readonly startedAtMs: number;
  /** The machine's memory. */
  readonly memoryLimitBytes: number;
  /** Finished minutes, oldest first, and the one under way as the last. */
  minutes(): readonly ProgramMinute[];
}
