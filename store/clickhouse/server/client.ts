import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ClickHouseClient as Connection } from '@clickhouse/client';
import type { SqlStatement } from '../../../sql/statement.ts';
import { type StoreLogger, silentLogger } from '../../event-store.ts';
import { boundStatement } from './bound-statement.ts';
import { AGAIN, type ClickhouseAddress, endStatement, isTimeout, runOn, settingsOf } from './connection.ts';
import { type ClickhouseRows, onlyRow, readJsonRows } from './json-rows.ts';
import { type CountedRows, proveAnswer, proveLines, proveRows, type Summary } from './proof.ts';
import { type HeldResults, ResultMemory } from './result-memory.ts';
import { isLostConnection } from './server-error.ts';
import { type Server, Servers } from './servers.ts';
import { type ClickhouseSettings, INSERT_SETTINGS, READ_SETTINGS, STATEMENT_SETTINGS } from './settings.ts';

export interface ReadOptions {
  /** Aborting it ends the statement, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly settings?: ClickhouseSettings;
  /** The results of the same answer, which this one counts with. Default: it counts until it is read. */
  readonly held?: HeldResults | undefined;
  /** Whether a replica may answer that lacks what others have stored. Default: it fetches that first. */
  readonly isOfAnyReplica?: boolean;
}

export interface BytesOptions extends ReadOptions {
  /** What the result may have; it does not count with others then. */
  readonly maxBytes?: number;
}

/** What an INSERT stores. */
export interface InsertedRows {
  /** The bytes of all rows, in the format that the statement names. */
  readonly data: readonly Uint8Array[];
  readonly rows: number;
  /** What the server counts as many of, at least, where it has them all. Default: the rows that it wrote. */
  readonly counted?: CountedRows;
}

/** So long may a server take nothing and send nothing before the next one is tried. Deadlines of searches are the caller's. */
const IDLE_MS = 300_000;

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
export class ClickhouseClient implements AsyncDisposable {
  readonly #servers: Servers;
  readonly #readSettings: ClickhouseSettings;
  readonly #writeSettings: ClickhouseSettings;
  readonly #results: ResultMemory;

  constructor(address: ClickhouseAddress, options: ClientOptions = {}) {
    const { logger = silentLogger, idleMs = IDLE_MS, resultBytes = RESULT_BYTES, settings = {}, insertSettings = {} } = options;
    const { database = address.database } = options;
    this.#results = new ResultMemory(resultBytes);
    this.#readSettings = { ...STATEMENT_SETTINGS, ...settings, ...READ_SETTINGS };
    this.#writeSettings = { ...STATEMENT_SETTINGS, ...settings, ...INSERT_SETTINGS, ...insertSettings };
    this.#servers = new Servers(address, { database, logger, idleMs });
  }

  /** See {@link Servers.storeId}. */
  storeId(): Promise<number> {
    return this.#servers.storeId();
  }

  /** Begins to count the results that one answer is made of, for {@link ReadOptions}. */
  holdResults(): HeldResults {
    return this.#results.begin();
  }

  /**
   * The bytes that a statement with a format of its own answers, in which each row is a line. Rejects with {@link AnswerTooLarge} where
   * they are more than `maxBytes`, and otherwise as {@link read} does.
   */
  async readBytes(statement: SqlStatement, options: BytesOptions = {}): Promise<Buffer> {
    const { maxBytes, settings } = options;
    // Nothing of a text that is made by the statement is in a dictionary.
    const bounded = maxBytes === undefined ? options : { ...options, settings: { ...settings, max_result_bytes: maxBytes } };
    return await this.#readAnswer(statement, bounded, async (chunks, count, summary) => {
      const come: Buffer[] = [];
      for await (const chunk of chunks) {
        count(chunk.length);
        come.push(chunk);
      }
      const bytes = Buffer.concat(come);
      proveLines(summary, bytes);
      return bytes;
    });
  }

  /**
   * The statement's rows. Rejects with `StoreError` (`unavailable`, `overloaded`, `closed`), with {@link AnswerTooLarge} where there is no
   * room for them, or with an error that is a defect.
   */
  async read({ text, params }: SqlStatement, options: ReadOptions = {}): Promise<ClickhouseRows> {
    return await this.#readAnswer({ text: `${text}\nFORMAT JSONCompact`, params }, options, readJsonRows);
  }

  /** The row of a statement that always has one. Rejects as {@link read} does. */
  async readRow({ text, params }: SqlStatement, options: ReadOptions = {}): Promise<readonly unknown[]> {
    return await this.#readAnswer({ text: `${text}\nFORMAT JSONCompact`, params }, options, async (chunks, count) =>
      onlyRow(await readJsonRows(chunks, count)),
    );
  }

  /** Whether no server has answered since one was last asked in vain. */
  get isAway(): boolean {
    return this.#servers.areAway;
  }

  /** Runs a statement that has no rows, such as one that makes a table. */
  async run(statement: SqlStatement, options: ReadOptions = {}): Promise<void> {
    await this.#write(statement, options);
  }

  /** The same for an INSERT of what it selects; resolves with how many rows it wrote, by the server's count. */
  async insertSelected(statement: SqlStatement): Promise<number> {
    return proveRows(await this.#write(statement, {}), 0);
  }

  #write(statement: SqlStatement, { signal, settings = {} }: ReadOptions): ReturnType<typeof runOn> {
    const { text, parameters } = boundStatement(statement);
    return this.#servers.onOne(signal, ({ connection }) =>
      runOn(connection, { text, parameters, settings: { ...this.#writeSettings, ...settings } }),
    );
  }

  /**
   * Runs an INSERT, which is done when this resolves, by what the server itself says. Where it rejects, all rows, some or none may be
   * stored.
   */
  async insert(statement: SqlStatement, { data, rows, counted }: InsertedRows, settings: ClickhouseSettings = {}): Promise<void> {
    const bound = boundStatement(statement);
    await this.#ending(undefined, async ({ connection }, queryId) => {
      const { stream, response_headers, summary } = await connection.exec({
        query: bound.text,
        query_params: { ...bound.parameters },
        query_id: queryId,
        values: Readable.from(data, { objectMode: false }),
        clickhouse_settings: settingsOf({ ...this.#writeSettings, ...settings }),
      });
      for await (const _ of stream) {
        // An INSERT answers nothing. The end of the answer says that it is done.
      }
      proveAnswer(response_headers, queryId);
      proveRows(summary, rows, counted);
    });
  }

  close(): Promise<void> {
    return this.#servers.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Runs a statement that reads, and has `take` take its answer as it comes and count the bytes of that. */
  async #readAnswer<T>(
    statement: SqlStatement,
    options: BytesOptions,
    take: (chunks: AsyncIterable<Buffer>, count: (bytes: number) => void, summary: Summary) => Promise<T>,
  ): Promise<T> {
    const { settings, held, maxBytes } = options;
    const results = maxBytes === undefined ? this.#results : new ResultMemory(maxBytes);
    using own = held === undefined ? results.begin() : undefined;
    const counting = held ?? own;
    const bound = boundStatement(statement);
    return await this.#reading(options, async (server, queryId, abort_signal) => {
      const { stream, response_headers, summary } = await server.exec({
        query: bound.text,
        query_params: { ...bound.parameters },
        query_id: queryId,
        abort_signal,
        clickhouse_settings: settingsOf({ ...this.#readSettings, ...results.settings, ...settings }),
      });
      try {
        proveAnswer(response_headers, queryId);
        return await take(stream, (bytes) => counting?.add(bytes), summary);
      } finally {
        stream.destroy();
      }
    });
  }

  /** Runs a statement that reads, once the replica has caught up if that is asked for. */
  #reading<T>(
    { signal, isOfAnyReplica = false }: ReadOptions,
    work: (server: Connection, queryId: string, abort: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#ending(signal, async (server, queryId, abort) => {
      if (!isOfAnyReplica) {
        await this.#servers.catchUp(server, abort);
      }
      try {
        return await work(server.connection, queryId, abort);
      } catch (error) {
        abort.throwIfAborted();
        // A server may close an idle connection just when a statement is sent. What reads may be asked again.
        if (!isLostConnection(error)) {
          throw error;
        }
        this.#servers.doubt();
        await this.#servers.catchUp(server, abort);
        // The server may not have noticed yet, and takes no second statement with the number of one that runs.
        return await work(server.connection, `${queryId}${AGAIN}`, abort);
      }
    });
  }

  /**
   * Runs a statement that ends on the server, too, where the signal aborts, or the server is silent for too long. It settles when the
   * server has ended it: until then its caller has his seat, so that of callers who hang up no more statements are ended at a time.
   */
  #ending<T>(signal: AbortSignal | undefined, work: (server: Server, queryId: string, abort: AbortSignal) => Promise<T>): Promise<T> {
    return this.#servers.onOne(signal, async (server) => {
      const queryId = randomUUID();
      const abort = new AbortController();
      let ended: Promise<void> | undefined;
      const end = (): void => {
        abort.abort();
        ended ??= endStatement(server.connection, queryId);
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
}
