import { randomUUID } from 'node:crypto';
import { ClickHouseError, type ClickHouseClient as Connection } from '@clickhouse/client';
import { abortable } from '../../../work/abortable.ts';
import type { StoreLogger } from '../../event-store.ts';
import { StoreError, storeClosed } from '../../store-error.ts';
import { type ClickhouseAddress, connectionTo, messageOf, runOn, settingsOf } from './connection.ts';
import { checkIdentity, IDENTITY, identityIn, type ServerIdentity } from './identity.ts';
import { onlyRow, readJsonRows } from './json-rows.ts';
import { Outage } from './outage.ts';
import { proveAnswer, UnprovenRows } from './proof.ts';
import { AnswerTooLarge, isGone, isOfOneReplica, isSignedOut, ServerUnreachable, storeErrorOf } from './server-error.ts';
import { WHOLE_ANSWER } from './settings.ts';

export interface Server {
  readonly url: string;
  readonly connection: Connection;
}

/** What is known of the server that is asked, as long as its answers come. */
interface Standing {
  readonly server: Server;
  readonly identity: Promise<ServerIdentity>;
  /** Settled when its replica has what others had stored when it was chosen. */
  caughtUp: Promise<void> | undefined;
}

/** Why a server was left. A `StoreError` says that it is not one of this store. */
interface Fault {
  readonly server: Server;
  readonly error: unknown;
}

interface ServersOptions {
  /** That of statements. Errors name the database of the address. */
  readonly database: string;
  readonly logger: StoreLogger;
  /** A server may take nothing and send nothing for so many milliseconds. */
  readonly idleMs: number;
}

/** The servers of a store, of which one is asked until it cannot answer. */
export class Servers {
  readonly #address: ClickhouseAddress;
  readonly #logger: StoreLogger;
  readonly #outage: Outage;
  readonly #servers: readonly Server[];
  /** The index of the server that was reached last. */
  #current = 0;
  #standing: Standing | undefined;
  /** The number of the store that servers have to have; undefined before it is known. */
  #storeId: number | undefined;
  #isClosed = false;

  constructor(address: ClickhouseAddress, { database, logger, idleMs }: ServersOptions) {
    this.#address = address;
    this.#logger = logger;
    this.#outage = new Outage({ logger, elapsedMs: () => performance.now() });
    this.#servers = address.urls.map((url) => ({ url, connection: connectionTo(url, { ...address, database }, idleMs) }));
  }

  /**
   * The number of the store in the database, 32 bits that tell its cursors from those of others. From then on a server with another store
   * is asked nothing. Rejects with `StoreError` (`unavailable`) where there is no store.
   */
  async storeId(): Promise<number> {
    if (this.#storeId === undefined) {
      // The store may have been made since the server was asked.
      this.doubt();
      const { storeId } = await this.onOne(undefined, (server) => this.#standingOf(server).identity);
      if (storeId === undefined) {
        throw new StoreError('unavailable', `there is no store in CLICKHOUSE_DATABASE=${this.#address.database}`);
      }
      this.#storeId ??= storeId;
    }
    return this.#storeId;
  }

  /**
   * Waits until the replica of a server that was not asked before has everything that others have stored by now, so that no reader misses
   * what it would have found on the server before.
   */
  async catchUp(server: Server, abort: AbortSignal): Promise<void> {
    const standing = this.#standingOf(server);
    const { replicated } = await abortable(standing.identity, abort);
    if (this.#servers.length === 1) {
      return;
    }
    standing.caughtUp ??= this.#syncReplicas(standing, replicated);
    await abortable(standing.caughtUp, abort);
  }

  /** Runs work on the server that was reached last, and on each other one if that cannot do it and another may. */
  async onOne<T>(signal: AbortSignal | undefined, work: (server: Server) => Promise<T>): Promise<T> {
    const faults: Fault[] = [];
    while (faults.length < this.#servers.length) {
      signal?.throwIfAborted();
      if (this.#isClosed) {
        throw storeClosed();
      }
      const server = this.#servers[this.#current] as Server;
      const sentAtMs = this.#outage.now();
      try {
        const { identity } = this.#standingOf(server);
        await (signal === undefined ? identity : abortable(identity, signal));
        const answer = await work(server);
        this.#outage.answered(sentAtMs);
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        if (this.#isClosed) {
          throw storeClosed();
        }
        this.#throwDecided(error, sentAtMs);
        faults.push({ server, error });
        this.#leave(server, error);
      }
    }
    throw this.#errorOfAll(faults);
  }

  /** Whether no server has answered since one was last asked in vain. */
  get areAway(): boolean {
    return this.#outage.isUnderWay;
  }

  /** Has the server that is asked tell anew what it is, because a connection was lost. */
  doubt(): void {
    this.#standing = undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#servers.map(({ connection }) => connection.close()));
  }

  /** What is known of a server, which is asked for it where it becomes the one that is asked. */
  #standingOf(server: Server): Standing {
    if (this.#standing?.server === server) {
      return this.#standing;
    }
    const standing: Standing = { server, identity: this.#identify(server), caughtUp: undefined };
    standing.identity.catch(() => {
      if (this.#standing === standing) {
        this.doubt();
      }
    });
    this.#standing = standing;
    return standing;
  }

  /** Rejects with `StoreError` where a server is not one of this store. */
  async #identify(server: Server): Promise<ServerIdentity> {
    try {
      const identity = await identityOf(server);
      checkIdentity(identity, server.url, this.#storeId);
      return identity;
    } catch (error) {
      throw error instanceof ClickHouseError && isGone(error) ? storeErrorOf(error, this.#address) : error;
    }
  }

  async #syncReplicas(standing: Standing, tables: readonly string[]): Promise<void> {
    try {
      await Promise.all(tables.map((table) => runOn(standing.server.connection, { text: syncReplica(table) })));
    } catch (error) {
      standing.caughtUp = undefined;
      throw error;
    }
  }

  /** Has the next server asked from now on, and the same one tell anew what it is, where there is no other. */
  #leave(server: Server, error: unknown): void {
    if (this.#standing?.server === server) {
      this.doubt();
    }
    if (this.#servers[this.#current] !== server || this.#servers.length === 1) {
      return;
    }
    this.#current = (this.#current + 1) % this.#servers.length;
    // An outage has its own lines.
    if (!this.#outage.isUnderWay) {
      const asked = this.#servers[this.#current]?.url;
      this.#logger.warn({ err: error, left: server.url, asked }, 'another server of CLICKHOUSE_URL is asked from now on');
    }
  }

  /** Throws the error of a statement that another server could not run, either. */
  #throwDecided(error: unknown, sentAtMs: number): void {
    if (error instanceof AnswerTooLarge || isRefusedRequest(error)) {
      throw error;
    }
    if (!(error instanceof ClickHouseError) || isOfOneReplica(error)) {
      return;
    }
    const told = storeErrorOf(error, this.#address);
    if (isSignedOut(error)) {
      this.#outage.failed(told);
    } else {
      this.#outage.answered(sentAtMs);
    }
    throw told;
  }

  /** The error of a statement that no server could run. */
  #errorOfAll(faults: readonly Fault[]): Error {
    const refusal = faults.findLast(({ error }) => error instanceof ClickHouseError);
    if (refusal !== undefined) {
      return storeErrorOf(refusal.error as ClickHouseError, this.#address);
    }
    const all = faults.map(({ server, error }) => `${server.url}: ${messageOf(error)}`).join('; ');
    if (faults.some(({ error }) => error instanceof UnprovenRows)) {
      return new StoreError('unavailable', `ClickHouse has not proven what it stores or answers: ${all}`);
    }
    const areUnfit = faults.every(({ error }) => error instanceof StoreError);
    const unreachable = areUnfit ? (faults[0]?.error as StoreError) : new ServerUnreachable(`ClickHouse cannot be reached: ${all}`);
    this.#outage.failed(unreachable);
    return unreachable;
  }
}

async function identityOf({ connection }: Server): Promise<ServerIdentity> {
  const query_id = randomUUID();
  const clickhouse_settings = settingsOf(WHOLE_ANSWER);
  const { stream, response_headers } = await connection.exec({ query: `${IDENTITY} FORMAT JSONCompact`, query_id, clickhouse_settings });
  try {
    proveAnswer(response_headers, query_id);
    return identityIn(onlyRow(await readJsonRows(stream, () => {})));
  } finally {
    stream.destroy();
  }
}

/** Has a replica fetch what it lacks. */
function syncReplica(table: string): string {
  return `SYSTEM SYNC REPLICA \`${table}\` LIGHTWEIGHT`;
}

/** Whether a server could not read the request: another one could not, either. */
function isRefusedRequest(error: unknown): boolean {
  return messageOf(error).startsWith('Poco::Exception');
}
