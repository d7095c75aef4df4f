import {
  BIGINT,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBMaterializedResult,
  type DuckDBPendingResult,
  DuckDBPendingResultState,
  DuckDBResultReader,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  LIST,
  listValue,
  UBIGINT,
  VARCHAR,
} from '@duckdb/node-api';
import type { SqlParam, SqlStatement, SqlType } from '../../../sql/statement.ts';

/** The part of a DuckDB connection that a runner uses. */
export type RunnerConnection = Pick<DuckDBConnection, 'run' | 'stream' | 'interrupt'>;

/** Words the errors of statements for people, as `PathAliases` does. */
export interface StatementErrors {
  readonly withOriginalPaths: (error: unknown) => unknown;
}

/** Whether DuckDB says that it cannot go on: after some of its errors, every later statement of its instance fails. */
export function isInvalidated(error: unknown): error is Error {
  return error instanceof Error && /database has been invalidated/i.test(error.message);
}

/** Whether DuckDB ran out of memory. It marks these errors in nothing but the message. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Memory Error');
}

const TYPES: Readonly<Record<SqlType, DuckDBType>> = { VARCHAR, 'VARCHAR[]': LIST(VARCHAR), INTEGER, BIGINT, UBIGINT };

/** DuckDB loses an interrupt that comes before it has begun the query, so the interrupt is repeated until the query has ended. */
const INTERRUPT_EVERY_MS = 10;

/**
 * Runs statements on one connection, one at a time. Errors name files by their own paths, not by the aliases that the statements read.
 */
export class StatementRunner {
  readonly #connection: RunnerConnection;
  readonly #errors: StatementErrors | undefined;
  readonly #signal: AbortSignal | undefined;

  /** Without `errors` they stay as DuckDB words them. `signal` interrupts a statement, which then rejects with the signal's reason. */
  constructor(connection: RunnerConnection, errors?: StatementErrors, signal?: AbortSignal) {
    this.#connection = connection;
    this.#errors = errors;
    this.#signal = signal;
  }

  /** The same runner whose statements this signal interrupts. */
  withSignal(signal: AbortSignal | undefined): StatementRunner {
    return new StatementRunner(this.#connection, this.#errors, signal);
  }

  /** Returns the rows as arrays in column order. */
  async run(statement: SqlStatement): Promise<DuckDBValue[][]> {
    using _interruption = this.#interruption();
    try {
      const reader = new DuckDBResultReader(await this.#connection.run(statement.text, ...boundTo(statement)));
      await reader.readAll();
      return reader.getRows();
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /** Runs a statement whose columns are doubles and never NULL, and returns them column by column. */
  async runForNumbers(statement: SqlStatement): Promise<Float64Array[]> {
    using _interruption = this.#interruption();
    try {
      return numbersIn(await this.#connection.run(statement.text, ...boundTo(statement)));
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /**
   * Hands the rows over block by block, so that DuckDB holds few of them. `take` returns false to end the statement; the call then returns
   * false.
   */
  async stream(statement: SqlStatement, take: (chunk: DuckDBDataChunk) => boolean): Promise<boolean> {
    using _interruption = this.#interruption();
    try {
      const result = await this.#connection.stream(statement.text, ...boundTo(statement));
      for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
        if (!take(chunk)) {
          // A statement that is not read to its end keeps its memory until the next one begins.
          await this.#connection.run('SELECT 1');
          return false;
        }
      }
      return true;
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /** Settles as `work`, which another thread does with the same aliases. Its error names files as those of this runner do. */
  async nameFiles<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw this.#named(error);
    }
  }

  /** Has the signal interrupt the statement that begins now, until it is disposed. Throws the signal's reason where it has aborted. */
  #interruption(): Disposable {
    const signal = this.#signal;
    signal?.throwIfAborted();
    let repeated: NodeJS.Timeout | undefined;
    const interrupt = () => {
      this.#connection.interrupt();
      repeated = setInterval(() => this.#connection.interrupt(), INTERRUPT_EVERY_MS);
    };
    signal?.addEventListener('abort', interrupt, { once: true });
    return {
      [Symbol.dispose]: () => {
        signal?.removeEventListener('abort', interrupt);
        clearInterval(repeated);
      },
    };
  }

  /** What a statement that failed rejects with: the signal's reason where that interrupted it. */
  #failureOf(error: unknown): unknown {
    return this.#signal?.aborted === true ? this.#signal.reason : this.#named(error);
  }

  /** The error with files by their own paths. */
  #named(error: unknown): unknown {
    return this.#errors?.withOriginalPaths(error) ?? error;
  }
}

/**
 * Has the statements of a connection run by the thread that asks for them, at its priority, while it waits: the connection itself has them
 * run by a thread of Node's pool. With one thread to a query, its engine does all of the work there. A statement is given up, and rejects,
 * once `isStopped`. It does not stream.
 */
export function statementsOnThisThread(connection: DuckDBConnection, isStopped: () => boolean): RunnerConnection {
  return {
    run: async (text, ...bound) => {
      const pending = await connection.start(text, ...bound);
      while (runTask(pending) !== DuckDBPendingResultState.RESULT_READY) {
        if (isStopped()) {
          connection.interrupt();
        }
      }
      // All rows are there, because the result is not a streaming one.
      return (await pending.getResult()) as DuckDBMaterializedResult;
    },
    stream: () => Promise.reject(new Error('statements on this thread cannot be streamed')),
    interrupt: () => connection.interrupt(),
  };
}

/** The driver puts this before DuckDB's own words. */
const TASK_FAILED = 'Failure running pending result task: ';

function runTask(pending: DuckDBPendingResult): DuckDBPendingResultState {
  try {
    return pending.runTask();
  } catch (error) {
    const { message } = error as Error;
    throw message.startsWith(TASK_FAILED) ? new Error(message.slice(TASK_FAILED.length), { cause: error }) : error;
  }
}

function numbersIn(result: DuckDBMaterializedResult): Float64Array[] {
  // All chunks are taken at once: to wait for each would be to wait for the event loop, which may be busy with taking in events.
  const chunks = Array.from({ length: result.chunkCount }, (_, index) => result.getChunk(index));
  const rows = chunks.reduce((sum, { rowCount }) => sum + rowCount, 0);
  return Array.from({ length: result.columnCount }, (_, column) => {
    const numbers = new Float64Array(rows);
    let row = 0;
    for (const chunk of chunks) {
      const vector = chunk.getColumnVector(column);
      // Each look at the count is a call into DuckDB.
      const { rowCount } = chunk;
      for (let item = 0; item < rowCount; item += 1, row += 1) {
        numbers[row] = vector.getItem(item) as number;
      }
    }
    return numbers;
  });
}

function boundTo({ params }: SqlStatement): [values: DuckDBValue[], types: DuckDBType[]] {
  return [params.map(duckdbValue), params.map(({ type }) => TYPES[type])];
}

function duckdbValue({ value }: SqlParam): DuckDBValue {
  return typeof value === 'object' ? listValue(value as string[]) : value;
}
