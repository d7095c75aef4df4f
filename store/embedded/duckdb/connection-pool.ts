import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { StoreError, storeClosed } from '../../event-store.ts';
import { type StatementErrors, StatementRunner } from './statement-runner.ts';

interface Waiter {
  readonly resolve: (connection: DuckDBConnection) => void;
  readonly reject: (error: unknown) => void;
}

/** A connection of a pool, which is free for the next caller once it is disposed. */
export interface HeldConnection extends Disposable {
  readonly runner: StatementRunner;
}

/**
 * A fixed number of DuckDB connections, each running one statement at a time (a second one would interrupt the first).
 * A caller who finds none free waits in turn; past `maxWaiting` a caller is refused with `StoreError` (`overloaded`).
 *
 * A connection whose statement was interrupted is free again once DuckDB has let go of it, which is after the current block of rows. The
 * pool does not open another one meanwhile: the statement still holds its memory, the engine's threads and one of Node's few, which the
 * journal needs as well, so clients that ask and hang up could take them all.
 */
export class ConnectionPool {
  readonly #connections: readonly DuckDBConnection[];
  readonly #idle: DuckDBConnection[];
  readonly #waiting: Waiter[] = [];
  readonly #maxWaiting: number;
  readonly #errors: StatementErrors | undefined;

  private constructor(connections: readonly DuckDBConnection[], maxWaiting: number, errors: StatementErrors | undefined) {
    this.#connections = connections;
    this.#idle = [...connections];
    this.#errors = errors;
    this.#maxWaiting = maxWaiting;
  }

  /** `prepare` is done with each of the connections first. `errors` words the errors of statements. */
  static async open(
    instance: DuckDBInstance,
    size: number,
    maxWaiting: number,
    errors?: StatementErrors,
    prepare: (connection: DuckDBConnection) => Promise<void> = () => Promise.resolve(),
  ): Promise<ConnectionPool> {
    const connections = await Promise.all(Array.from({ length: size }, () => instance.connect()));
    await Promise.all(connections.map(prepare));
    return new ConnectionPool(connections, maxWaiting, errors);
  }

  /** Waits for a connection. `signal` ends the waiting, and each statement of the runner. */
  async acquire(signal?: AbortSignal): Promise<HeldConnection> {
    return this.#held(await this.#idleConnection(signal), signal);
  }

  /** Takes a connection that nobody uses, if there is one. */
  acquireIdle(signal?: AbortSignal): HeldConnection | undefined {
    const connection = this.#idle.pop();
    return connection && this.#held(connection, signal);
  }

  close(): void {
    for (const waiter of this.#waiting.splice(0)) {
      waiter.reject(storeClosed());
    }
    for (const connection of this.#connections) {
      connection.closeSync();
    }
  }

  #held(connection: DuckDBConnection, signal?: AbortSignal): HeldConnection {
    return { runner: new StatementRunner(connection, this.#errors, signal), [Symbol.dispose]: () => this.#handOver(connection) };
  }

  #handOver(connection: DuckDBConnection): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#idle.push(connection);
    } else {
      next.resolve(connection);
    }
  }

  async #idleConnection(signal?: AbortSignal): Promise<DuckDBConnection> {
    signal?.throwIfAborted();
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      return idle;
    }
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new StoreError('overloaded', `${this.#waiting.length} searches are waiting already; try again later`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<DuckDBConnection>();
    const waiter: Waiter = { resolve, reject };
    const giveUp = () => {
      const index = this.#waiting.indexOf(waiter);
      if (index >= 0) {
        this.#waiting.splice(index, 1);
        reject(signal?.reason);
      }
    };
    this.#waiting.push(waiter);
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }
}
