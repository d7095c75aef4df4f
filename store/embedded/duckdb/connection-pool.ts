import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { storeClosed } from '../../store-error.ts';
import { type StatementErrors, StatementRunner } from './statement-runner.ts';

/** A connection of a pool, which is free for the next caller once it is disposed. */
export interface HeldConnection extends Disposable {
  readonly runner: StatementRunner;
}

export interface ConnectionPoolOptions {
  /** So many connections are kept while nobody uses them. */
  readonly kept: number;
  /** Words the errors of statements. */
  readonly errors?: StatementErrors;
  /** Prepares each connection before its first use. */
  readonly prepare?: (connection: DuckDBConnection) => Promise<void>;
}

/**
 * DuckDB connections, each running one statement at a time (a second one would interrupt the first). Nobody waits for one: callers say how
 * many reads run at the same time. A connection whose statement was interrupted is held until DuckDB has let go of it, which is after the
 * current block of rows; whoever comes meanwhile gets another one.
 */
export class ConnectionPool {
  readonly #instance: DuckDBInstance;
  readonly #options: ConnectionPoolOptions;
  readonly #idle: DuckDBConnection[] = [];
  #held = 0;
  #isClosed = false;

  private constructor(instance: DuckDBInstance, options: ConnectionPoolOptions) {
    this.#instance = instance;
    this.#options = options;
  }

  static async open(instance: DuckDBInstance, options: ConnectionPoolOptions): Promise<ConnectionPool> {
    const pool = new ConnectionPool(instance, options);
    pool.#idle.push(...(await Promise.all(Array.from({ length: options.kept }, () => pool.#connect()))));
    return pool;
  }

  /** Takes a connection that nobody uses, or opens one. `signal` interrupts each statement of the runner. */
  async acquire(signal?: AbortSignal): Promise<HeldConnection> {
    signal?.throwIfAborted();
    if (this.#isClosed) {
      throw storeClosed();
    }
    this.#held += 1;
    try {
      return this.#hold(this.#idle.pop() ?? (await this.#connect()), signal);
    } catch (error) {
      this.#held -= 1;
      throw error;
    }
  }

  /** Takes a connection that nobody uses, while fewer are held than are kept. */
  acquireIdle(signal?: AbortSignal): HeldConnection | undefined {
    const connection = this.#held < this.#options.kept ? this.#idle.pop() : undefined;
    if (connection === undefined) {
      return undefined;
    }
    this.#held += 1;
    return this.#hold(connection, signal);
  }

  /** Closes the connections, those that are held when they are given back. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#idle.splice(0)) {
      connection.closeSync();
    }
  }

  #hold(connection: DuckDBConnection, signal?: AbortSignal): HeldConnection {
    return { runner: new StatementRunner(connection, this.#options.errors, signal), [Symbol.dispose]: () => this.#giveBack(connection) };
  }

  #giveBack(connection: DuckDBConnection): void {
    this.#held -= 1;
    if (this.#isClosed || this.#idle.length >= this.#options.kept) {
      connection.closeSync();
    } else {
      this.#idle.push(connection);
    }
  }

  async #connect(): Promise<DuckDBConnection> {
    const connection = await this.#instance.connect();
    await this.#options.prepare?.(connection);
    return connection;
  }
}
