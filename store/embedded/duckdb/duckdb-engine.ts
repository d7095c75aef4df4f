import {
  BIGINT,
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBInstance,
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
import type { SqlParam, SqlType } from '../../../sql/fragment.ts';
import type { SqlStatement } from '../../../sql/statement.ts';

export interface EngineOptions {
  readonly memoryLimitMb: number;
  readonly spillFolder: string;
  /** Threads a query may use; DuckDB's own default is one per core. */
  readonly threads?: number;
}

/** A query that would spill more fails: the journal and the segments are on the same disk. */
export const SPILL_LIMITS_OF_MEMORY = 8;

const TYPES: Readonly<Record<SqlType, DuckDBType>> = { VARCHAR, 'VARCHAR[]': LIST(VARCHAR), INTEGER, BIGINT, UBIGINT };

/** Starts DuckDB in memory. Only what spills goes to disk: the store's own files are journals and segments. */
export async function startEngine({ memoryLimitMb, spillFolder, threads }: EngineOptions): Promise<DuckDBInstance> {
  const engine = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryLimitMb}MiB`,
    temp_directory: spillFolder,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    ...(threads === undefined ? {} : { threads: String(threads) }),
  });
  const connection = await engine.connect();
  // As an option of the start DuckDB shows it and does not keep to it.
  await connection.run(`SET GLOBAL max_temp_directory_size = '${SPILL_LIMITS_OF_MEMORY * memoryLimitMb}MiB'`);
  // It would look for the rows of a page by few columns, and then read the row groups once more for the others: twice the time.
  await connection.run('SET GLOBAL late_materialization_max_rows = 0');
  // Once 16 MiB were committed it would compress every table anew, in memory too: half of what a small load takes. The table that collects
  // small journals goes to disk soon enough.
  await connection.run("SET GLOBAL checkpoint_threshold = '1000 TB'");
  connection.closeSync();
  return engine;
}

/**
 * From here on DuckDB remembers the footers of the files that the connection reads: every search begins with those of many segments. For
 * those that read files by aliases alone (`PathAliases`).
 */
export async function rememberFooters(connection: DuckDBConnection): Promise<void> {
  await connection.run('SET SESSION parquet_metadata_cache = true');
}

/** An interrupt that comes before the engine has begun the query is lost, so it is repeated until the query has ended. */
const INTERRUPT_EVERY_MS = 10;

/** What statements are run by. */
export type StatementRunner = Pick<DuckDBConnection, 'run' | 'interrupt'>;

/**
 * Has the statements of a connection run by the thread that asks for them, at its priority, while it waits: the connection itself has them
 * run by a thread of Node's pool. With one thread to a query, its engine does all of the work there. A statement is given up, and rejects,
 * once `isStopped`.
 */
export function statementsOnThisThread(connection: DuckDBConnection, isStopped: () => boolean): StatementRunner {
  return {
    run: async (text, ...bound) => {
      const pending = await connection.start(text, ...bound);
      while (runTask(pending) !== DuckDBPendingResultState.RESULT_READY) {
        if (isStopped()) {
          connection.interrupt();
        }
      }
      // What was not streamed is all there.
      return (await pending.getResult()) as DuckDBMaterializedResult;
    },
    interrupt: () => connection.interrupt(),
  };
}

/** What the driver says before DuckDB's own words. */
const TASK_FAILED = 'Failure running pending result task: ';

function runTask(pending: DuckDBPendingResult): DuckDBPendingResultState {
  try {
    return pending.runTask();
  } catch (error) {
    const { message } = error as Error;
    throw message.startsWith(TASK_FAILED) ? new Error(message.slice(TASK_FAILED.length), { cause: error }) : error;
  }
}

/**
 * Runs a statement and returns its rows as arrays in column order. `signal` interrupts it; the call then rejects with the signal's reason.
 */
export async function runStatement(runner: StatementRunner, statement: SqlStatement, signal?: AbortSignal): Promise<DuckDBValue[][]> {
  return await interruptible(runner, signal, async () => {
    const reader = new DuckDBResultReader(await runner.run(statement.text, ...boundTo(statement)));
    await reader.readAll();
    return reader.getRows();
  });
}

/**
 * Runs a statement and hands its rows over block by block, so that DuckDB holds few of them. `take` returns false to end it; the call then
 * returns false. `signal` interrupts the statement; the call then rejects with the signal's reason.
 */
export async function streamStatement(
  connection: DuckDBConnection,
  statement: SqlStatement,
  signal: AbortSignal | undefined,
  take: (chunk: DuckDBDataChunk) => boolean,
): Promise<boolean> {
  return await interruptible(connection, signal, async () => {
    const result = await connection.stream(statement.text, ...boundTo(statement));
    for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
      if (!take(chunk)) {
        // A statement that is not read to its end keeps its memory until the next one begins.
        await connection.run('SELECT 1');
        return false;
      }
    }
    return true;
  });
}

/** Runs a statement whose columns are doubles and never NULL, and returns them column by column. */
export async function runForNumbers(runner: StatementRunner, statement: SqlStatement): Promise<Float64Array[]> {
  const result = await runner.run(statement.text, ...boundTo(statement));
  // All of them are there: to wait for each would be to wait for the event loop, which may be busy with taking in events.
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

/** What is bound to a statement, and its types. */
function boundTo({ params }: SqlStatement): [values: DuckDBValue[], types: DuckDBType[]] {
  return [params.map(duckdbValue), params.map(({ type }) => TYPES[type])];
}

/** DuckDB says it in nothing but the message. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Memory Error');
}

/** `signal` interrupts whatever is run for `work`; the call then rejects with the signal's reason. */
export async function interruptible<T>(
  runner: Pick<DuckDBConnection, 'interrupt'>,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let repeated: NodeJS.Timeout | undefined;
  const interrupt = () => {
    runner.interrupt();
    repeated = setInterval(() => runner.interrupt(), INTERRUPT_EVERY_MS);
  };
  signal?.addEventListener('abort', interrupt, { once: true });
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', interrupt);
    clearInterval(repeated);
  }
}

function duckdbValue({ value }: SqlParam): DuckDBValue {
  return typeof value === 'object' ? listValue(value as string[]) : value;
}
