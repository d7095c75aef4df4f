import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { StoreError } from '../../store-error.ts';

interface Waiter {
  readonly resolve: (connection: DuckDBConnection) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A fixed number of DuckDB connections, each running one statement at a time (a second one would interrupt the first).
 * Who finds none free waits in turn; past `maxWaiting` a caller is refused with `StoreError` (`overloaded`).
 *
 * A connection whose statement was interrupted is free again when DuckDB has let go of it, which is after the block of rows it is at.
 * Another one in its place until then would get round the limit: the statement still has its memory, the engine's threads and one of Node's
 * few, which the journal needs as well, and clients that ask and hang up could take them all.
 */
export class ConnectionPool {
  readonly #all: readonly DuckDBConnection[];
  readonly #idle: DuckDBConnection[];
  readonly #waiting: Waiter[] = [];
  readonly #maxWaiting: number;

  private constructor(connections: DuckDBConnection[], maxWaiting: number) {
    this.#all = connections;
    this.#idle = [...connections];
    this.#maxWaiting = maxWaiting;
  }

  /** `prepare` is done with each of the connections first. */
  static async open(
    instance: DuckDBInstance,
    size: number,
    maxWaiting: number,
    prepare: (connection: DuckDBConnection) => Promise<void> = () => Promise.resolve(),
  ): Promise<ConnectionPool> {
    const connections = await Promise.all(Array.from({ length: size }, () => instance.connect()));
    await Promise.all(connections.map(prepare));
    return new ConnectionPool(connections, maxWaiting);
  }

  async use<T>(work: (connection: DuckDBConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const connection = await this.#acquire(signal);
    try {
      return await work(connection);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#idle.push(connection);
      } else {
        next.resolve(connection);
      }
    }
  }

  close(): void {
    for (const waiter of this.#waiting.splice(0)) {
      waiter.reject(new StoreError('closed', 'the store is closed'));
    }
    for (const connection of this.#all) {
      connection.closeSync();
    }
  }

  async #acquire(signal?: AbortSignal): Promise<DuckDBConnection> {
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
