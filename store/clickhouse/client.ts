import type { SqlStatement } from '../../sql/statement.ts';

/** The rows of a statement. 64-bit integers are texts. */
export interface ClickhouseRows {
  readonly rows: readonly (readonly unknown[])[];
  /** Rows before LIMIT, where the statement was asked for them. */
  readonly rowsBeforeLimit: number;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly settings?: Readonly<Record<string, string | number>>;
}

export interface ClickhouseClient {
  /** Runs a statement (JSONCompact); aborting the signal rejects with its reason and ends the statement on the server. */
  read(statement: SqlStatement, options: ReadOptions): Promise<ClickhouseRows>;
}
