/** The limits of a caller of the database. */
export interface DatabaseLimits {
  /** A statement that runs longer is stopped and its stream is rolled back. */
  readonly statementMs: number;
  /** One item of a pipeline (a batch, a sequence) that takes longer is stopped in the same way. */
  readonly requestMs: number;
  /** How long a statement waits for the write lock of another stream. It is shorter than `statementMs`. */
  readonly lockWaitMs: number;
  /** A stream that is unused for longer ends and is rolled back. */
  readonly idleMs: number;
  /** A transaction that is open for longer is rolled back: it keeps the write-ahead log from being emptied. */
  readonly transactionMs: number;
  /** Database processes, each with one stream that is inside a transaction. */
  readonly processes: number;
  /** Open streams, with or without a process. */
  readonly streams: number;
  /** How long a request waits for a free process. */
  readonly queueMs: number;
  /** Rows in the answer of one statement. */
  readonly rows: number;
  readonly answerBytes: number;
  readonly bodyBytes: number;
  /** Bytes of one text or blob, and of one row. */
  readonly valueBytes: number;
  /** Bytes of the database's file. The events need the disk of DATA_DIR. */
  readonly fileBytes: number;
  /** Bytes of the write-ahead log beyond which no writing statement begins. */
  readonly logBytes: number;
  /** Resident memory of one database process, temporary tables included. A process with more is ended. */
  readonly memoryBytes: number;
  /** Bytes of one SQL text with all its statements. */
  readonly sqlBytes: number;
  readonly requests: number;
  /** SQL texts that one stream may store. */
  readonly storedSqls: number;
  /** UTF-8 bytes of the SQL texts that all streams of one token store together. */
  readonly storedBytes: number;
}

const MIB = 1024 * 1024;

export const DATABASE_LIMITS: DatabaseLimits = {
  statementMs: 5_000,
  requestMs: 12_000,
  lockWaitMs: 3_000,
  idleMs: 10_000,
  transactionMs: 5_000,
  processes: 8,
  streams: 128,
  queueMs: 5_000,
  rows: 100_000,
  answerBytes: 10 * MIB,
  bodyBytes: 8 * MIB,
  valueBytes: 8 * MIB,
  fileBytes: 4096 * MIB,
  logBytes: 256 * MIB,
  memoryBytes: 512 * MIB,
  sqlBytes: 4 * MIB,
  requests: 1_000,
  storedSqls: 64,
  storedBytes: 16 * MIB,
};
