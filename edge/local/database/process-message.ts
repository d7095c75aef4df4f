/** What the program asks of a database process; each is answered by one ProcessAnswer. */
export type ProcessRequest =
  | {
      readonly kind: 'open';
      readonly path: string;
      readonly readOnly: boolean;
      readonly lockWaitMs: number;
      readonly valueBytes: number;
      readonly fileBytes: number;
      readonly logBytes: number;
      readonly sqlBytes: number;
    }
  | {
      readonly kind: 'run';
      /** As `serialize` of node:v8 writes a StreamPlan<GivenSql>. */
      readonly plan: Uint8Array;
      /** The stored texts that the plan names, by number. */
      readonly stored: ReadonlyMap<number, string>;
      readonly rows: number;
      readonly bytes: number;
    }
  | { readonly kind: 'close' };

/** How an item of a pipeline went. */
export interface RunOutcome {
  /** The protocol's result, `{type: "ok" | "error", …}`, in JSON text. */
  readonly json: string;
  /** A transaction is open, or something was made or set that lives as long as the connection. */
  readonly keepsState: boolean;
  /** How long the transaction that is open has been; null where none is. */
  readonly transactionMs: number | null;
  /** Transactions of other streams kept the write-ahead log from being emptied when it was as large as is allowed. */
  readonly logIsHeld: boolean;
  /** A Read Only token was used to write: the whole request is refused. */
  readonly forbidden: { readonly code: string; readonly message: string } | null;
}

export type ProcessAnswer =
  /** Sent once, unasked, when it can be used. */
  | { readonly kind: 'ready' }
  /** Sent unasked now and then while a plan of many statements runs: a new one has begun. */
  | { readonly kind: 'statement' }
  | { readonly kind: 'done' }
  /** The connection is closed; `rssBytes` is the memory that the process has all the same. */
  | { readonly kind: 'closed'; readonly rssBytes: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ran'; readonly outcome: RunOutcome };
