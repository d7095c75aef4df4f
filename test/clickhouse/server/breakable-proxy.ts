import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, FaultList } from './faults.ts';
import { type Refusal, refusalText, refusalTrailer, statusOf } from './refusal.ts';
import { type RawRequest, StatementRequest } from './statement-request.ts';

/** A URL may be as long as on a server. */
const MAX_HEADER_BYTES = 1_048_576 + 65_536;

/** Headers of a connection, which the proxy has of its own on each side. Answers are not compressed, so that they can be cut anywhere. */
const OF_CONNECTION = ['accept-encoding', 'connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding'];

/** The rows of an INSERT with data, such as `input('a Int64, b String')`. */
const INPUT = /\binput\('(?:[^'\\]|\\.)*'\)/;

/** A statement that takes ten minutes. */
const SLEEP = 'SELECT sleepEachRow(1) FROM numbers(600)';

/** An INSERT that stores nothing of what data it has. */
const INTO_NOTHING = "INSERT INTO FUNCTION null('line String') FORMAT LineAsString";

/** A request that was sent to the server. */
interface Sent {
  readonly request: ClientRequest;
  readonly answer: Promise<IncomingMessage>;
}

/** A statement that a server is sent in place of one that was asked for. */
export interface Run {
  readonly server: URL;
  readonly statement: string;
}

/** What is done about a statement. */
export interface Route {
  /** One after the other. Where one fails, the client gets its error, and the next ones are not run. */
  readonly before: readonly Run[];
  /** What the client gets the answer of, or gets instead. */
  readonly last: Run | Refusal;
}

type TakenFault = { readonly id: number; readonly fault: Fault } | undefined;

/**
 * The HTTP interface of a ClickHouse server, which tests may break: it loses answers, cuts them, holds statements and refuses them, and has
 * a clock of its own. What it lets through the server runs and answers.
 */
export class BreakableProxy {
  readonly faults = new FaultList();
  /** Milliseconds by which the time that now64 gives is ahead of the server's. */
  clockOffsetMs = 0;
  readonly #server: URL;
  readonly #routeOf: (asked: StatementRequest) => Route;
  #listening: Server | undefined;
  #port = 0;

  private constructor(server: URL, routeOf: (asked: StatementRequest) => Route) {
    this.#server = server;
    this.#routeOf = routeOf;
  }

  /**
   * Listens on a free port of 127.0.0.1.
   *
   * @param server the URL of the server that it stands before, with user and password if it has them
   * @param routeOf what is done about a statement. Default: the server runs it as it is
   */
  static async open(server: string, routeOf?: (asked: StatementRequest) => Route): Promise<BreakableProxy> {
    const url = new URL(server);
    const proxy = new BreakableProxy(url, routeOf ?? (({ statement }) => ({ before: [], last: { server: url, statement } })));
    await proxy.comeBack();
    return proxy;
  }

  /** Has the user and the password of the server's. */
  get url(): string {
    const url = new URL(this.#server);
    url.protocol = 'http:';
    url.host = `127.0.0.1:${this.#port}`;
    return url.href.replace(/\/$/, '');
  }

  /** Refuses connections, and cuts those that there are. */
  async goAway(): Promise<void> {
    const server = this.#listening;
    if (server === undefined) return;
    this.#listening = undefined;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }

  /** Listens again, on the port that it had. */
  async comeBack(): Promise<void> {
    if (this.#listening !== undefined) return;
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 30_000, requestTimeout: 0 }, (request, response) => {
      // What the client or the server breaks off the other one sees.
      this.#answer(request, response).catch(() => response.destroy());
    });
    await once(server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#listening = server;
  }

  async close(): Promise<void> {
    this.faults.release();
    await this.goAway();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const raw = { method, path, headers, body: await buffer(request) };
    const asked = StatementRequest.of(raw);
    if (asked === undefined) {
      await copyAnswer(await this.#send(raw).answer, response);
      return;
    }
    const taken = this.faults.take(asked.statement);
    switch (taken?.fault.kind) {
      case 'refuse':
        refuse(response, taken.fault);
        return;
      case 'answer':
        response
          .writeHead(200, { 'Content-Type': 'application/json; charset=UTF-8', 'X-ClickHouse-Query-Id': asked.queryId })
          .end(taken.fault.text);
        return;
      case 'cut-before':
        response.destroy();
        return;
      case 'cut-during':
        await this.#cutDuring(asked, taken.id, response);
        return;
      case 'list-on':
        await this.#listOn(asked, taken.id);
        await this.#run(asked, taken, response);
        return;
      default:
        await this.#run(asked, taken, response);
    }
  }

  /** Has the server run the statement, and gives the client as much of the answer as the fault lets through. */
  async #run(asked: StatementRequest, taken: TakenFault, response: ServerResponse): Promise<void> {
    const fault = taken?.fault;
    if (isHeld(taken, 'before')) await this.faults.hold(taken.id, asked.statement);
    const last = await this.#lastRun(asked, response);
    if (last === undefined) return;
    const changed = asked.with(this.#changed(last.statement, fault));
    const sent = isHeld(taken, 'inside') && asked.hasData ? await this.#sendHeld(changed, taken.id) : this.#send(changed.raw, last.server);
    // What is held goes on without its client.
    const hangUp = (): void => {
      if (fault?.kind !== 'hold' && !response.writableFinished) sent.request.destroy();
    };
    response.once('close', hangUp);
    if (response.destroyed) hangUp();
    const answer = await sent.answer;
    switch (fault?.kind) {
      case 'cut-answer':
      case 'fail-answer':
        await copyAnswer(answer, response, fault);
        return;
      case 'cut-after':
        await buffer(answer);
        response.destroy();
        return;
      case 'store-part':
        await buffer(answer);
        refuse(response, fault);
        return;
      default:
    }
    if (isHeld(taken, 'after')) {
      const body = await buffer(answer);
      await this.faults.hold(taken.id, asked.statement);
      response.writeHead(answer.statusCode ?? 0, headersOf(answer.headers)).end(body);
    } else {
      await copyAnswer(answer, response);
    }
  }

  /** Has what comes before run. Gives the run whose answer the client gets; undefined where it has got an answer. */
  async #lastRun(asked: StatementRequest, response: ServerResponse): Promise<Run | undefined> {
    const { before, last } = this.#routeOf(asked);
    for (const { server, statement } of before) {
      const answer = await this.#send(asked.with(statement).raw, server).answer;
      if (answer.statusCode !== 200) {
        await copyAnswer(answer, response);
        return undefined;
      }
      await buffer(answer);
    }
    if ('server' in last) return last;
    refuse(response, last);
    return undefined;
  }

  /** What the server gets in place of the statement. */
  #changed(statement: string, fault: Fault | undefined): string {
    const moved =
      this.clockOffsetMs === 0 ? statement : statement.replaceAll('now64(6)', `(now64(6) + toIntervalMillisecond(${this.clockOffsetMs}))`);
    return fault?.kind === 'store-part' ? moved.replace(INPUT, (input) => `(SELECT * FROM ${input} WHERE ${fault.where})`) : moved;
  }

  /** Sends an INSERT, and keeps most of its data back until it is let go, or refused. */
  async #sendHeld(asked: StatementRequest, fault: number): Promise<Sent> {
    const { sent, isRunning, sendRest } = await this.#begin(asked);
    // A statement that is refused may have been seen running before.
    const answered = sent.answer.catch(() => undefined);
    if (isRunning) await Promise.race([this.faults.hold(fault, asked.statement), answered]);
    sendRest();
    return sent;
  }

  /** Has the server run an INSERT into nothing with the comment of this one, which ends when it is let go. */
  async #listOn(asked: StatementRequest, fault: number): Promise<void> {
    const { sendRest } = await this.#begin(asked.with(INTO_NOTHING, { query_id: `${asked.queryId}-listed` }));
    void this.faults.hold(fault, asked.statement).then(sendRest);
  }

  /**
   * Sends an INSERT and a byte of its data, and waits until the server runs it, or has answered. The server reads as many bytes as a
   * statement may have before it begins one: this one may have no more than it has.
   */
  async #begin(asked: StatementRequest): Promise<{ readonly sent: Sent; readonly isRunning: boolean; readonly sendRest: () => void }> {
    const { statement } = asked;
    const { body, ...head } = asked.with(statement, { max_query_size: String(Buffer.byteLength(statement) + 1) }).raw;
    const sent = this.#open(head);
    sent.request.write(body.subarray(0, 1));
    return { sent, isRunning: await this.#begins(asked, sent), sendRest: () => void sent.request.end(body.subarray(1)) };
  }

  /** Cuts the connection while a statement with this id runs, which ends when it is let go. */
  async #cutDuring(asked: StatementRequest, fault: number, response: ServerResponse): Promise<void> {
    const sent = this.#send(asked.with(SLEEP, { max_block_size: '1', cancel_http_readonly_queries_on_client_close: '1' }).raw);
    await this.#begins(asked, sent);
    response.destroy();
    await this.faults.hold(fault, asked.statement);
    sent.request.destroy();
  }

  /** Whether the server runs the statement; false where it has answered before. Whoever sent it asks for it. */
  async #begins({ queryId, raw }: StatementRequest, { answer }: Sent): Promise<boolean> {
    const body = Buffer.from(`SELECT count() FROM system.processes WHERE query_id = '${queryId}'`);
    const { authorization } = raw.headers;
    let isAnswered = false;
    const end = (): void => {
      isAnswered = true;
    };
    answer.then(end, end);
    while (!isAnswered) {
      const asking = this.#send({ method: 'POST', path: '/', headers: { authorization }, body });
      if ((await buffer(await asking.answer)).toString() === '1\n') return true;
      await delay(2);
    }
    return false;
  }

  #send({ body, ...head }: RawRequest, server = this.#server): Sent {
    const sent = this.#open(head, server);
    sent.request.end(body);
    return sent;
  }

  /** Begins a request on a connection of its own. */
  #open({ method, path, headers }: Omit<RawRequest, 'body'>, server = this.#server): Sent {
    const { protocol, hostname, port } = server;
    const options = { hostname, port, method, path, headers: headersOf(headers), agent: false };
    const request = protocol === 'https:' ? tlsRequest(options) : plainRequest(options);
    // An error after the answer has begun is one of the answer.
    request.on('error', () => {});
    const answer = once(request, 'response').then(([message]) => message as IncomingMessage);
    // Whoever waits for the answer is told, also where nobody does yet.
    answer.catch(() => {});
    return { request, answer };
  }
}

function isHeld(taken: TakenFault, at: 'before' | 'inside' | 'after'): taken is NonNullable<TakenFault> {
  return taken?.fault.kind === 'hold' && taken.fault.at === at;
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  response.writeHead(statusOf(refusal.code), {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(refusal.code),
  });
  response.end(refusalText(refusal));
}

/** The headers that go on to the other side. */
function headersOf(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)));
}

/** Where an answer stops before its end. */
type AnswerBreak = Extract<Fault, { readonly kind: 'cut-answer' | 'fail-answer' }>;

/**
 * Gives the client the answer, up to the break if there is one, as fast as the client takes it. An answer that breaks is cut off here, too.
 */
async function copyAnswer(answer: IncomingMessage, response: ServerResponse, stop?: AnswerBreak): Promise<void> {
  response.writeHead(answer.statusCode ?? 0, headersOf(answer.headers));
  let left = stop?.afterBytes ?? Number.POSITIVE_INFINITY;
  let isWhole = stop === undefined;
  const gone = new Promise((resolve) => response.once('close', resolve));
  try {
    for await (const chunk of answer) {
      if (left > 0 && !response.write(chunk.subarray(0, left))) {
        await Promise.race([new Promise((resolve) => response.once('drain', resolve)), gone]);
      }
      left -= chunk.length;
      if (left <= 0 || response.destroyed) break;
    }
  } catch {
    isWhole = false;
  }
  if (isWhole) {
    response.end();
    return;
  }
  if (stop?.kind === 'fail-answer') response.write(refusalTrailer(stop, String(answer.headers['x-clickhouse-exception-tag'])));
  // What was written still comes, without the end that HTTP wants.
  response.socket?.end();
}
