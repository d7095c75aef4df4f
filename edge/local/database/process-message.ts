/** What the SQL functions `total_changes()`, `changes()` and `last_insert_rowid()` tell of a connection. */
export interface Counters {
  readonly total: bigint;
  readonly last: bigint;
  readonly rowid: bigint;
}

/** A connection to open. */
export interface OpenRequest {
  readonly path: string;
  /** Those of the stream's earlier connection, which the new one tells, too. */
  readonly counters: Counters | null;
  readonly readOnly: boolean;
  readonly lockWaitMs: number;
  readonly valueBytes: number;
  /** The limit of the file. */
  readonly fileBytes: number;
  readonly logBytes: number;
  readonly sqlBytes: number;
}

/** An item of a pipeline to run. */
export interface RunRequest {
  /** A StreamPlan<GivenSql>, written by `serialize` of node:v8. */
  readonly plan: Uint8Array;
  /** The stored texts of the plan, by number. One that is not stored is missing. */
  readonly stored: ReadonlyMap<number, string>;
  readonly rows: number;
  readonly bytes: number;
}

/** A request of the program to a database process. Each has one ProcessAnswer. */
export type ProcessRequest =
  | ({ readonly kind: 'open' } & OpenRequest)
  | ({ readonly kind: 'run' } & RunRequest)
  | { readonly kind: 'close' };

/** The outcome of an item of a pipeline. */
export interface RunOutcome {
  /** The protocol's result, `{type: "ok" | "error", …}`, as JSON text; of a cursor its entries, a line each. */
  readonly json: string;
  /** A transaction is open, or the connection has what another one of this stream could not be given. */
  readonly keepsState: boolean;
  readonly counters: Counters;
  /** The age of the open transaction, in milliseconds; null where none is open. */
  readonly transactionMs: number | null;
  /** Transactions of other streams kept the full write-ahead log from being emptied. */
  readonly logIsHeld: boolean;
  /** A Read Only token was used to write. The whole request is refused. */
  readonly forbidden: { readonly code: string; readonly message: string } | null;
}

export type ProcessAnswer =
  /** Sent once, unasked, when the process can be used. */
  | { readonly kind: 'ready' }
  /** Sent unasked while a plan of many statements runs: a new statement has begun. */
  | { readonly kind: 'statement' }
  /** Sent unasked: a statement found the database locked. The process does nothing until it reads a byte, as LOCK_ANSWERS has them. */
  | { readonly kind: 'locked' }
  /** Sent unasked after `locked`: the statement has run or failed. */
  | { readonly kind: 'unlocked' }
  | { readonly kind: 'done' }
  /** The connection is closed. `rssBytes` is the memory that the process still has. */
  | { readonly kind: 'closed'; readonly rssBytes: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ran'; readonly outcome: RunOutcome };

/** What a process that found the database locked reads from its file descriptor `LOCK_FD`. */
export const LOCK_ANSWERS = { fail: 0, tryAgain: 1 } as const;
export const LOCK_FD = 4;

// Signals by which a database process ends itself. Node does not use them, and nobody else sends them.

/** It takes too much memory. */
export const MEMORY_SIGNAL = 'SIGUSR2';
/** A transaction is open for too long. */
export const TRANSACTION_SIGNAL = 'SIGALRM';
