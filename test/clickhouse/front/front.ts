import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type Fault, FaultList } from '../server/faults.ts';
import { type AnswerBreak, sendAnswer, sendError } from './answer.ts';
import { CLUSTER, clusterSettings } from './cluster-engine.ts';
import type { ClickhouseEngine, StatementAnswer } from './engine.ts';
import { HeldFile } from './held-file.ts';
import { answerEncoding, decoded, isForm, type RequestParts, readParts } from './request-parts.ts';
import { asServerError, formError, isSignedIn, type ServerError, serverError } from './server-error.ts';
import { asSeenBy, insertFromFile, quoted, type ServerView, statementFacts, withoutNodes } from './statement-text.ts';

export interface FrontOptions {
  readonly user: string;
  readonly password: string;
  /** Default: a free one. */
  readonly port?: number;
}

/** A statement that was asked for, as far as it was understood. */
interface Asked {
  readonly parts: RequestParts;
  readonly queryId: string;
  readonly statement: string;
  /** The file that has the data of an INSERT. */
  readonly dataFile: string | undefined;
}

/** What tells the query id from the program's own log_comment in the engine's. */
const SEPARATOR = '\u0001';

/** A URL may be as long as on a server. */
const MAX_HEADER_BYTES = 1_048_576 + 65_536;

/**
 * The HTTP interface of one ClickHouse server. Several may share an engine: each has a port, a list of running statements, a clock and
 * faults of its own.
 */
export class Front {
  readonly faults = new FaultList();
  /** The fronts of each cluster that this one belongs to. Of the engine's cluster it is the only node, unless a test says otherwise. */
  readonly clusters = new Map<string, readonly Front[]>();
  clockOffsetMs = 0;
  readonly #engine: ClickhouseEngine;
  readonly #id: number;
  readonly #folder: string;
  readonly #options: FrontOptions;
  readonly #running = new Set<string>();
  #server: Server | undefined;
  #port: number;
  #requests = 0;

  private constructor(engine: ClickhouseEngine, id: number, folder: string, options: FrontOptions) {
    this.#engine = engine;
    this.#id = id;
    this.#folder = folder;
    this.#options = options;
    this.#port = options.port ?? 0;
  }

  /** Listens on 127.0.0.1. `folder` is where the data of INSERTs waits, `id` tells the fronts of an engine apart. */
  static async open(engine: ClickhouseEngine, id: number, folder: string, options: FrontOptions): Promise<Front> {
    const front = new Front(engine, id, folder, options);
    await engine.ask('CREATE DATABASE IF NOT EXISTS shieldlog_front ENGINE = Memory');
    await engine.ask(front.#processesView());
    await front.comeBack();
    return front;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Refuses connections, and cuts those that there are. */
  async goAway(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }

  /** Listens again, on the port that it had. */
  async comeBack(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 30_000, requestTimeout: 0 }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async close(): Promise<void> {
    this.faults.release();
    await this.goAway();
    await this.#engine.ask(`DROP VIEW shieldlog_front.processes_${this.#id}`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://front');
    if (url.pathname === '/ping' || (request.method === 'GET' && url.pathname === '/' && !url.searchParams.has('query'))) {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=UTF-8' }).end('Ok.\n');
      return;
    }
    if (url.pathname !== '/') {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=UTF-8' }).end(`There is no handle ${url.pathname}\n`);
      return;
    }
    this.#requests++;
    const queryId = url.searchParams.get('query_id') ?? `front-${this.#id}-${this.#requests}`;
    const dataFile = join(this.#folder, `${this.#id}-${this.#requests}.data`);
    try {
      if (!isSignedIn(request, url, this.#options.user, this.#options.password)) {
        throw serverError(wrongPassword(this.#options.user), this.#engine.version);
      }
      await this.#run(await this.#read(request, url, queryId, dataFile), request, response);
    } catch (error) {
      if (response.headersSent || response.destroyed) throw error;
      request.resume();
      sendError(response, queryId, asServerError(error, this.#engine.version), this.#engine.timezone);
    } finally {
      await rm(dataFile, { force: true });
    }
  }

  async #read(request: IncomingMessage, url: URL, queryId: string, dataFile: string): Promise<Asked> {
    const parts = await readParts(request, url).catch((error: Error) => {
      throw formError(error.message, this.#engine.version);
    });
    if (parts.settings.has('session_id')) throw this.#unsupported('session_id');
    if (isForm(request)) return { parts, queryId, statement: parts.statement, dataFile: undefined };
    const facts = statementFacts(parts.statement);
    if (facts.verb === 'INSERT' && facts.format !== undefined) {
      await pipeline(decoded(request), createWriteStream(dataFile));
      return { parts, queryId, statement: parts.statement, dataFile };
    }
    const body = (await buffer(decoded(request))).toString();
    return { parts, queryId, statement: `${parts.statement}${body}`, dataFile: undefined };
  }

  async #run(asked: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { queryId, statement } = asked;
    const fault = this.faults.take(statement);
    if (fault?.fault.kind === 'refuse') throw serverError(fault.fault, this.#engine.version);
    if (fault?.fault.kind === 'cut-before') {
      response.destroy();
      return;
    }
    if (isHeld(fault, 'before')) await this.faults.hold(fault.id, statement);
    if (this.#running.has(queryId)) throw serverError(alreadyRunning(queryId), this.#engine.version);
    this.#running.add(queryId);
    const onClose = (): void => {
      if (endsWithClient(asked)) void this.#end(queryId);
    };
    response.once('close', onClose);
    if (response.destroyed) onClose();
    const startedAt = performance.now();
    let answer: StatementAnswer | undefined;
    try {
      answer = fault?.fault.kind === 'answer' ? cannedAnswer(fault.fault.text) : await this.#execute(asked, request, fault);
      if (isHeld(fault, 'after')) await this.faults.hold(fault.id, statement);
      if (fault?.fault.kind === 'store-part') throw serverError(fault.fault, this.#engine.version);
      if (fault?.fault.kind === 'cut-after') response.destroy();
      else await this.#send(asked, answer, performance.now() - startedAt, request, response, fault?.fault);
    } finally {
      this.#running.delete(queryId);
      answer?.close();
    }
  }

  async #send(
    { parts, queryId, statement }: Asked,
    answer: StatementAnswer,
    elapsedMs: number,
    request: IncomingMessage,
    response: ServerResponse,
    fault: Fault | undefined,
  ): Promise<void> {
    const { verb, format = parts.defaultFormat } = statementFacts(statement);
    const head = {
      queryId,
      format,
      timezone: this.#engine.timezone,
      tag: exceptionTag(this.#requests),
      encoding: answerEncoding(request, parts.settings),
      // The engine tells no numbers of an INSERT, which is all or nothing here.
      summary:
        verb === 'INSERT'
          ? { readRows: ALL_ROWS, writtenRows: ALL_ROWS, elapsedMs }
          : { readRows: answer.rowsRead, writtenRows: 0, elapsedMs },
    };
    const asError = (error: unknown): ServerError => asServerError(error, this.#engine.version);
    await sendAnswer(response, head, answer.chunks, asError, answerBreak(fault, this.#engine.version));
  }

  /** Runs the statement on the engine. */
  async #execute({ parts, queryId, statement, dataFile }: Asked, request: IncomingMessage, fault: TakenFault): Promise<StatementAnswer> {
    const facts = statementFacts(statement);
    if (facts.isSeveral) throw serverError(severalStatements(), this.#engine.version);
    const source = isHeld(fault, 'inside') && dataFile !== undefined ? await HeldFile.over(dataFile) : undefined;
    const where = fault?.fault.kind === 'store-part' ? fault.fault.where : undefined;
    const text = withoutNodes(statement);
    if (text === undefined) return cannedAnswer('');
    const readable = dataFile === undefined ? text : insertFromFile(text, source?.path ?? dataFile, facts.format ?? '', where);
    const ran = this.#engine.run({
      statement: asSeenBy(this.#view(parts.settings.get('skip_unavailable_shards') === '1'), readable),
      database: parts.database,
      params: parts.params,
      settings: new Map([
        ...parts.settings,
        ...clusterSettings(parts.settings, parts.database),
        ['log_comment', `${this.#mark(queryId)}${parts.settings.get('log_comment') ?? ''}`],
        ...(request.method === 'GET' ? [['readonly', '2'] as const] : []),
      ]),
      format: parts.defaultFormat,
      streams: facts.streams && !parts.waitsForEnd,
    });
    if (source !== undefined && fault !== undefined) {
      if (await source.isRead(ran)) await this.faults.hold(fault.id, statement);
      await source.give();
    }
    return ran;
  }

  /** Ends the statement of a client that has hung up. The engine may not know it yet, so it is asked until the statement has ended. */
  async #end(queryId: string): Promise<void> {
    while (this.#running.has(queryId)) {
      await this.#engine.ask(`KILL QUERY WHERE startsWith(Settings['log_comment'], ${quoted(this.#mark(queryId))}) ASYNC`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** What the engine's log_comment of a statement begins with. */
  #mark(queryId: string): string {
    return `${this.#id}:${queryId}${SEPARATOR}`;
  }

  #view(skipsAway: boolean): ServerView {
    return {
      hostName: `front-${this.#id}`,
      processes: `shieldlog_front.processes_${this.#id}`,
      queryId: this.#queryId(),
      clockOffsetMs: this.clockOffsetMs,
      cluster: (name) => this.#nodes(name, skipsAway)?.map((node) => node.#view(skipsAway)),
    };
  }

  #nodes(cluster: string, skipsAway: boolean): readonly Front[] | undefined {
    const nodes = this.clusters.get(cluster) ?? (cluster === CLUSTER ? [this] : undefined);
    const present = nodes?.filter((node) => node === this || node.#server !== undefined);
    if (present?.length !== nodes?.length && !skipsAway) throw serverError(serverAway(), this.#engine.version);
    return present;
  }

  /** The query id of a row of system.processes, which the engine makes itself; empty for the statements of others. */
  #queryId(): string {
    const own = `${this.#id}:`;
    const comment = "Settings['log_comment']";
    return `if(startsWith(${comment}, '${own}'), substring(splitByChar('\\x01', ${comment})[1], ${own.length + 1}), '')`;
  }

  #processesView(): string {
    const comment = "splitByChar('\\x01', Settings['log_comment'])[2]";
    const settings = `mapFilter((k, v) -> v != '', mapUpdate(Settings, map('log_comment', ${comment})))`;
    return `CREATE VIEW shieldlog_front.processes_${this.#id} AS
      SELECT * REPLACE (own_id AS query_id, own_id AS initial_query_id, own_settings AS Settings) EXCEPT (own_id, own_settings) FROM (
        SELECT *, ${this.#queryId()} AS own_id, ${settings} AS own_settings FROM system.processes WHERE own_id != ''
      )`;
  }

  #unsupported(what: string): ServerError {
    return serverError({ code: 48, name: 'NOT_IMPLEMENTED', message: `The front has no ${what}` }, this.#engine.version);
  }
}

const ALL_ROWS = 1_000_000_000;

type TakenFault = { readonly id: number; readonly fault: Fault } | undefined;

function isHeld(fault: TakenFault, at: 'before' | 'inside' | 'after'): fault is NonNullable<TakenFault> {
  return fault?.fault.kind === 'hold' && fault.fault.at === at;
}

/** Whether the statement ends when its client hangs up: a server ends those that read where the client has asked for it. */
function endsWithClient({ parts, statement }: Asked): boolean {
  const setting = parts.settings.get('cancel_http_readonly_queries_on_client_close') ?? '';
  return ['1', 'true'].includes(setting) && statementFacts(statement).reads;
}

function cannedAnswer(text: string): StatementAnswer {
  return { chunks: Readable.from([Buffer.from(text)]), rowsRead: 0, close: () => {} };
}

function answerBreak(fault: Fault | undefined, version: string): AnswerBreak | undefined {
  if (fault?.kind === 'cut-answer') return { afterBytes: fault.afterBytes, error: undefined };
  if (fault?.kind === 'fail-answer') return { afterBytes: fault.afterBytes, error: serverError(fault, version) };
  return undefined;
}

function exceptionTag(number: number): string {
  return number
    .toString(26)
    .replace(/[0-9]/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? 'q')
    .padStart(16, 'a');
}

function wrongPassword(user: string) {
  return {
    code: 516,
    name: 'AUTHENTICATION_FAILED',
    message: `${user}: Authentication failed: password is incorrect, or there is no user with such name`,
  };
}

function alreadyRunning(queryId: string) {
  return { code: 216, name: 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', message: `Query with id = ${queryId} is already running` };
}

function serverAway() {
  return { code: 279, name: 'ALL_CONNECTION_TRIES_FAILED', message: 'All connection tries failed' };
}

function severalStatements() {
  return { code: 62, name: 'SYNTAX_ERROR', message: 'Syntax error (Multi-statements are not allowed)' };
}
