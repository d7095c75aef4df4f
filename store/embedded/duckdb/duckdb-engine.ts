import { availableParallelism } from 'node:os';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { StoreLogger } from '../../event-store.ts';
import type { Closing } from '../runtime/closing.ts';
import { ConnectionPool } from './connection-pool.ts';
import { PathAliases } from './path-aliases.ts';
import { isInvalidated, type StatementErrors, StatementRunner } from './statement-runner.ts';
import { ThreadPolicy } from './thread-policy.ts';

export interface EngineOptions {
  readonly memoryLimitMb: number;
  readonly spillFolder: string;
  /** Default: 8 times the memory. */
  readonly spillLimitMb?: number;
  /** Threads a query may use; DuckDB's own default is one per core. */
  readonly threads?: number;
}

/**
 * A query that would spill more than this many times `MEMORY_LIMIT_MB` fails, because the journal and the segments are on the same disk.
 */
export const SPILL_LIMITS_OF_MEMORY = 8;

/** Starts DuckDB in memory. Only spilled data goes to disk: the store's own files are journals and segments. */
export async function startEngine({
  memoryLimitMb,
  spillFolder,
  spillLimitMb = SPILL_LIMITS_OF_MEMORY * memoryLimitMb,
  threads,
}: EngineOptions): Promise<DuckDBInstance> {
  const engine = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryLimitMb}MiB`,
    temp_directory: spillFolder,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    ...(threads === undefined ? {} : { threads: String(threads) }),
  });
  const connection = await engine.connect();
  // DuckDB shows this setting but ignores it when it is an option of the start.
  await connection.run(`SET GLOBAL max_temp_directory_size = '${spillLimitMb}MiB'`);
  // Late materialization would find the rows of a page by few columns and then read the row groups again for the others: twice the time.
  await connection.run('SET GLOBAL late_materialization_max_rows = 0');
  // Once 16 MiB were committed DuckDB would compress every table anew, in memory too, which takes half as long as a small load. The table
  // that collects small journals goes to disk soon enough.
  await connection.run("SET GLOBAL checkpoint_threshold = '1000 TB'");
  // Otherwise the header of a page of a Parquet file is read by a call to the operating system for each of its bytes.
  await connection.run('SET GLOBAL prefetch_all_parquet_files = true');
  // The operating system has the blocks of files already. Another copy would take the memory that queries need.
  await connection.run('SET GLOBAL enable_external_file_cache = false');
  connection.closeSync();
  return engine;
}

/**
 * Makes DuckDB remember the footers of the files that the connection reads from now on: every search begins with those of many segments.
 * Only for connections that read files by aliases alone (`PathAliases`).
 */
export async function rememberFooters(connection: DuckDBConnection): Promise<void> {
  await connection.run('SET SESSION parquet_metadata_cache = true');
}

/** Searches get every core again this long after the last bulk load. */
const IDLE_MS = 1_000;

/** The DuckDB of a store. */
export interface OpenEngine {
  readonly aliases: PathAliases;
  readonly threads: ThreadPolicy;
  /** Opens a connection, which runs one statement at a time. */
  connect(): Promise<StatementRunner>;
  /** Opens a pool that keeps so many connections. */
  pool(kept: number, options?: { readonly remembersFooters: boolean }): Promise<ConnectionPool>;
}

export interface OpenEngineOptions {
  readonly memoryLimitMb: number;
  readonly segmentsFolder: string;
  readonly linksFolder: string;
  readonly spillFolder: string;
  readonly spillLimitMb: number;
  readonly logger: StoreLogger;
  /** Called where DuckDB cannot go on: every later statement fails, until the process ends. */
  readonly onFatal: (error: Error) => void;
}

export async function openEngine(options: OpenEngineOptions, closing: Closing): Promise<OpenEngine> {
  const { logger } = options;
  const cores = availableParallelism();
  const instance = await startEngine({ ...options, threads: cores });
  closing.add('DuckDB', () => instance.closeSync());
  const aliases = new PathAliases(options);
  const errors: StatementErrors = {
    withOriginalPaths: (error) => {
      if (isInvalidated(error)) {
        options.onFatal(error);
      }
      return aliases.withOriginalPaths(error);
    },
  };
  const connect = async (): Promise<StatementRunner> => {
    const connection = await instance.connect();
    closing.add('a connection of DuckDB', () => connection.closeSync());
    return new StatementRunner(connection, errors);
  };
  const threads = new ThreadPolicy({ runner: await connect(), cores, idleMs: IDLE_MS, logger });
  closing.add('the number of threads', () => threads.stop());
  return {
    aliases,
    threads,
    connect,
    async pool(kept, { remembersFooters } = { remembersFooters: false }) {
      const pool = await ConnectionPool.open(instance, { kept, errors, ...(remembersFooters ? { prepare: rememberFooters } : {}) });
      closing.add('the connections of DuckDB', () => pool.close());
      return pool;
    },
  };
}
