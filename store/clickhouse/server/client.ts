import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ClickHouseError, type ClickHouseClient as Connection, createClient } from '@clickhouse/client';
import type { SqlStatement } from '../../../sql/statement.ts';
import { type StoreLogger, silentLogger, storeClosed } from '../../event-store.ts';
import { boundStatement } from './bound-statement.ts';
import { type ClickhouseRows, readJsonRows } from './json-rows.ts';
import { Outage } from './outage.ts';
import { type HeldResults, ResultMemory } from './result-memory.ts';
import { AnswerTooLarge, isLostConnection, isOfOneReplica, isSignedOut, ServerUnreachable, storeErrorOf } from './server-error.ts';
import { type ClickhouseSettings, INSERT_SETTINGS, READ_SETTINGS, STATEMENT_SETTINGS } from './settings.ts';

/** Where ClickHouse is, and who asks it. */
export interface ClickhouseAddress {
  /** One server, or replicas of one: the first that can be reached is asked. */
  readonly urls: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface ReadOptions {
  /** Aborting it ends the statement, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly settings?: ClickhouseSettings;
  /** The results of the same answer, which this one counts with. Default: it counts until it is read. */
  readonly held?: HeldResults | undefined;
}

export interface BytesOptions extends ReadOptions {
  /** What the result may have; it does not count with others then. */
  readonly maxBytes?: number;
}

/** So long may a server take nothing and send nothing before the next one is tried. Deadlines of searches are the caller's. */
const IDLE_MS = 300_000;

/** So long may the end of a statement take before its seat is given back all the same. */
const END_MS = 30_000;

/** As many statements may be under way: those of all seats of the queue, and those that the store makes by itself. */
const MAX_CONNECTIONS = 64;

/** What the number of a statement ends with that is asked again. */
const AGAIN = '-again';

/** What the results of all statements may have together. */
const RESULT_BYTES = 96 * 1024 * 1024;

export interface ClientOptions {
  /** Is told of outages, and of servers that are left for others. Default: nobody is. */
  readonly logger?: StoreLogger;
  /** Replaces the time that a server may take nothing and send nothing. */
  readonly idleMs?: number;
  /** Replaces the bytes that the results of all statements may have together while they are held. */
  readonly resultBytes?: number;
  /** Replaces the database of the address for statements, because it may not be there yet. Errors name that of the address. */
  readonly database?: string;
  /** What every statement is sent with besides. */
  readonly settings?: ClickhouseSettings;
  /** What every INSERT is sent with besides. */
  readonly insertSettings?: ClickhouseSettings;
}

/** The statements of a store, over the HTTP interface of ClickHouse. */
export class ClickhouseClient {
  readonly #address: ClickhouseAddress;
  readonly #logger: StoreLogger;
  readonly #outage: Outage;
  readonly #servers: readonly Connection[];
  readonly #readSettings: ClickhouseSettings;
  readonly #writeSettings: ClickhouseSettings;
  readonly #results: ResultMemory;
  /** The index of the server that was reached last. */
  #current = 0;
  /** The server whose replica has what others had stored when it was chosen; null where none is known to. */
  #caughtUp: Promise<number> | null;
  #isClosed = false;

  constructor(address: ClickhouseAddress, options: ClientOptions = {}) {
    const { logger = silentLogger, idleMs = IDLE_MS, resultBytes = RESULT_BYTES, settings = {}, insertSettings = {} } = options;
    const { database = address.database } = options;
    this.#results = new ResultMemory(resultBytes);
    this.#readSettings = { ...STATEMENT_SETTINGS, ...settings, ...READ_SETTINGS };
    this.#writeSettings = { ...STATEMENT_SETTINGS, ...settings, ...INSERT_SETTINGS, ...insertSettings };
    this.#address = address;
    this.#logger = logger;
    this.#outage = new Outage({ logger, elapsedMs: () => performance.now() });
    this.#caughtUp = address.urls.length === 1 ? Promise.resolve(0) : null;
    this.#servers = address.urls.map((url) => connectionTo(url, { ...address, database }, idleMs));
  }

  /** Begins to count the results that one answer is made of, for {@link ReadOptions}. */
  holdResults(): HeldResults {
    return this.#results.begin();
  }

  /**
   * The bytes that a statement with a format of its own answers. Rejects with {@link AnswerTooLarge} where they are more than `maxBytes`,
   * and otherwise as {@link read} does.
   */
  async readBytes(statement: SqlStatement, options: BytesOptions = {}): Promise<Buffer> {
    const { maxBytes, settings } = options;
    // Nothing of a text that is made by the statement is in a dictionary.
    const bounded = maxBytes === undefined ? options : { ...options, settings: { ...settings, max_result_bytes: maxBytes } };
    return await this.#readAnswer(statement, bounded, async (chunks, count) => {
      const come: Buffer[] = [];
      for await (const chunk of chunks) {
        count(chunk.length);
        come.push(chunk);
      }
      return Buffer.concat(come);
    });
  }

  /**
   * The statement's rows. Rejects with `StoreError` (`unavailable`, `overloaded`, `closed`), with {@link AnswerTooLarge} where there is no
   * room for them, or with an error that is a defect.
   */
  async read({ text, params }: SqlStatement, options: ReadOptions = {}): Promise<ClickhouseRows> {
    return await this.#readAnswer({ text: `${text}\nFORMAT JSONCompact`, params }, options, readJsonRows);
  }

  /** Whether no server has answered since one was last asked in vain. */
  get isAway(): boolean {
    return this.#outage.isUnderWay;
  }

  /** Runs a statement that has no rows, such as one that makes a table. */
  async run(statement: SqlStatement, { signal, settings = {} }: ReadOptions = {}): Promise<void> {
    const bound = boundStatement(statement);
    await this.#onOneServer(signal, (server) =>
      server.command({
        query: bound.text,
        query_params: { ...bound.parameters },
        clickhouse_settings: settingsOf({ ...this.#writeSettings, ...settings }),
      }),
    );
  }

  /** Runs an INSERT whose data are these bytes. Where it rejects, all of them, some or none may be stored. */
  async insert(statement: SqlStatement, data: readonly Uint8Array[], settings: ClickhouseSettings = {}): Promise<void> {
    const bound = boundStatement(statement);
    await this.#ending(undefined, async (server, queryId) => {
      const { stream } = await server.exec({
        query: bound.text,
        query_params: { ...bound.parameters },
        query_id: queryId,
        values: Readable.from(data, { objectMode: false }),
        clickhouse_settings: settingsOf({ ...this.#writeSettings, ...settings }),
      });
      for await (const _ of stream) {
        // An INSERT answers nothing. The end of the answer says that it is done.
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  /** Runs a statement that reads, and has `take` take its answer as it comes and count the bytes of that. */
  async #readAnswer<T>(
    statement: SqlStatement,
    { signal, settings, held, maxBytes }: BytesOptions,
    take: (chunks: AsyncIterable<Buffer>, count: (bytes: number) => void) => Promise<T>,
  ): Promise<T> {
    const results = maxBytes === undefined ? this.#results : new ResultMemory(maxBytes);
    using own = held === undefined ? results.begin() : undefined;
    const counting = held ?? own;
    const bound = boundStatement(statement);
    return await this.#reading(signal, async (server, queryId, abort_signal) => {
      const { stream } = await server.exec({
        query: bound.text,
        query_params: { ...bound.parameters },
        query_id: queryId,
        abort_signal,
        clickhouse_settings: settingsOf({ ...this.#readSettings, ...results.settings, ...settings }),
      });
      return await take(stream, (bytes) => counting?.add(bytes));
    });
  }

  /** Runs a statement that reads, once the replica has caught up. */
  #reading<T>(signal: AbortSignal | undefined, work: (server: Connection, queryId: string, abort: AbortSignal) => Promise<T>): Promise<T> {
    return this.#ending(signal, async (server, queryId, abort) => {
      await this.#catchUp(server);
      abort.throwIfAborted();
      try {
        return await work(server, queryId, abort);
      } catch (error) {
        abort.throwIfAborted();
        // A server may close an idle connection just when a statement is sent. What reads may be asked again.
        if (!isLostConnection(error)) {
          throw error;
        }
        // The server may not have noticed yet, and takes no second statement with the number of one that runs.
        return await work(server, `${queryId}${AGAIN}`, abort);
      }
    });
  }

  /**
   * Waits until the replica of a server that was not asked before has everything that others have stored by now, so that no reader misses
   * what it would have found on the server before.
   */
  async #catchUp(server: Connection): Promise<void> {
    const index = this.#servers.indexOf(server);
    if (this.#caughtUp !== null && (await this.#caughtUp) === index) {
      return;
    }
    const caughtUp = catchUp(server).then(() => index);
    this.#caughtUp = caughtUp;
    try {
      await caughtUp;
    } catch (error) {
      if (this.#caughtUp === caughtUp) {
        this.#caughtUp = null;
      }
      throw error;
    }
  }

  /**
   * Runs a statement that ends on the server, too, where the signal aborts, or the server is silent for too long. It settles when the
   * server has ended it: until then its caller has his seat, so that of callers who hang up no more statements are ended at a time.
   */
  #ending<T>(signal: AbortSignal | undefined, work: (server: Connection, queryId: string, abort: AbortSignal) => Promise<T>): Promise<T> {
    return this.#onOneServer(signal, async (server) => {
      const queryId = randomUUID();
      const abort = new AbortController();
      let ended: Promise<void> | undefined;
      const end = (): void => {
        abort.abort();
        ended ??= endStatement(server, queryId);
      };
      signal?.addEventListener('abort', end, { once: true });
      try {
        return await work(server, queryId, abort.signal);
      } catch (error) {
        if (isTimeout(error)) {
          end();
        }
        throw error;
      } finally {
        signal?.removeEventListener('abort', end);
        await ended;
      }
    });
  }

  /** Runs work on the server that was reached last, and on each other one if that cannot do it and another may. */
  async #onOneServer<T>(signal: AbortSignal | undefined, work: (server: Connection) => Promise<T>): Promise<T> {
    const faults: string[] = [];
    let refusal: ClickHouseError | undefined;
    for (let tried = 0; tried < this.#servers.length; tried += 1) {
      signal?.throwIfAborted();
      if (this.#isClosed) {
        throw storeClosed();
      }
      const index = this.#current;
      const sentAtMs = this.#outage.now();
      try {
        const answer = await work(this.#servers[index] as Connection);
        this.#outage.answered(sentAtMs);
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        if (this.#isClosed) {
          throw storeClosed();
        }
        if (error instanceof AnswerTooLarge || isRefusedRequest(error)) {
          throw error;
        }
        if (error instanceof ClickHouseError) {
          if (!isOfOneReplica(error)) {
            throw this.#errorOf(error, sentAtMs);
          }
          refusal = error;
        }
        faults.push(`${this.#address.urls[index]}: ${messageOf(error)}`);
        this.#leave(index, error);
      }
    }
    if (refusal !== undefined) {
      throw storeErrorOf(refusal, this.#address);
    }
    const unreachable = new ServerUnreachable(`ClickHouse cannot be reached: ${faults.join('; ')}`);
    this.#outage.failed(unreachable);
    throw unreachable;
  }

  /** Has the next server asked from now on. */
  #leave(index: number, error: unknown): void {
    if (this.#current !== index || this.#servers.length === 1) {
      return;
    }
    this.#current = (index + 1) % this.#servers.length;
    const { urls } = this.#address;
    this.#logger.warn(
      { err: error, left: urls[index], asked: urls[this.#current] },
      'another server of CLICKHOUSE_URL is asked from now on',
    );
  }

  #errorOf(error: ClickHouseError, sentAtMs: number): Error {
    const told = storeErrorOf(error, this.#address);
    if (isSignedOut(error)) {
      this.#outage.failed(told);
    } else {
      this.#outage.answered(sentAtMs);
    }
    return told;
  }
}

function connectionTo(url: string, { user, password, database }: ClickhouseAddress, idleMs: number): Connection {
  return createClient({
    url,
    username: user,
    password,
    database,
    application: 'shieldlog',
    request_timeout: idleMs,
    max_open_connections: MAX_CONNECTIONS,
    // A server closes what is idle, and a statement that is sent at that moment fails. A busy program looks late whether one is.
    keep_alive: { enabled: true, eagerly_destroy_stale_sockets: true },
    compression: isOfThisMachine(url) ? {} : { response: { codec: 'zstd' }, request: { codec: 'zstd', level: 1 } },
    // Errors are the store's to tell.
    log: { level: 127 },
  });
}

/** What stays on this machine is not compressed, because that takes longer than sending it. */
function isOfThisMachine(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

/** Has a replica fetch what it lacks. A table that is not replicated lacks nothing. */
async function catchUp(server: Connection): Promise<void> {
  const replicated = await server.query({
    query: "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE 'Replicated%'",
    format: 'JSONCompact',
  });
  const { data } = await replicated.json<readonly [table: string]>();
  await Promise.all(data.map(([table]) => server.command({ query: `SYSTEM SYNC REPLICA \`${String(table)}\` LIGHTWEIGHT` })));
}

/** Ends a statement whose reader is gone, and waits for its end. Where that fails, it ends by itself. */
async function endStatement(server: Connection, queryId: string): Promise<void> {
  try {
    const query = `KILL QUERY WHERE query_id IN ({id:String}, concat({id:String}, '${AGAIN}')) SYNC`;
    await server.command({ query, query_params: { id: queryId }, abort_signal: AbortSignal.timeout(END_MS) });
  } catch {
    // The server cannot be reached, or the statement has ended.
  }
}

/** The client's type of settings has only those of its own version. */
function settingsOf(settings: ClickhouseSettings): Record<string, string | number> {
  return { ...settings };
}

/** Whether a server could not read the request: another one could not, either. */
function isRefusedRequest(error: unknown): boolean {
  return messageOf(error).startsWith('Poco::Exception');
}

/** Whether the client gave a server up that was silent for too long. */
function isTimeout(error: unknown): boolean {
  return messageOf(error).startsWith('Timeout error');
}

function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === '' ? String(code) : message;
}
