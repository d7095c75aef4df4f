/** What one caller may take of the database. */
export interface DatabaseLimits {
  /** A statement that runs longer is stopped, with its stream and whatever that had not committed. */
  readonly statementMs: number;
  /** One item of a pipeline (a batch, a sequence) that takes longer in all is stopped likewise. */
  readonly requestMs: number;
  /** How long a statement waits for another stream's write lock; shorter than `statementMs`. */
  readonly lockWaitMs: number;
  /** A stream that nobody used for so long is gone, and what it had not committed is rolled back. */
  readonly idleMs: number;
  /** A transaction that is open for longer is rolled back, used or not: it keeps the write-ahead log from being emptied. */
  readonly transactionMs: number;
  /** Database processes: as many streams can be inside a transaction at once. */
  readonly processes: number;
  /** Streams kept open, with or without a process. */
  readonly streams: number;
  /** How long a request waits for a free process. */
  readonly queueMs: number;
  /** Rows that one statement may answer. */
  readonly rows: number;
  readonly answerBytes: number;
  readonly bodyBytes: number;
  /** One text or blob, and one row. */
  readonly valueBytes: number;
  /** The database's file, and what one stream keeps in temporary tables: DATA_DIR is on the disk that the events need. */
  readonly fileBytes: number;
  /** The write-ahead log beyond which no statement that writes begins. */
  readonly logBytes: number;
  /** Resident memory of one database process; one that takes more is ended. */
  readonly memoryBytes: number;
  /** One SQL text, with all its statements. */
  readonly sqlBytes: number;
  readonly requests: number;
  /** SQL texts that one stream may store. */
  readonly storedSqls: number;
  /** UTF-8 of the SQL texts that all streams of one token store together. */
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
