import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { cutOffIdle } from '../../edge/leaving-callers.ts';
import { type ErrorKey, PROBLEM_CONTENT_TYPE, problemBody, RequestProblem } from './problem.ts';

/**
 * The headers of every answer. A browser takes the body for nothing but its Content-Type, and runs and loads nothing in it. The explorer
 * page and the documentation have policies of their own.
 */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
};

/** How long a client that is still sending may take to read its answer, in milliseconds. */
export const LINGER_MS = 5_000;
/** A longer rest of a body is not waited for. So much fits into Node's buffer, and a new connection costs more. */
const SMALL_BYTES = 32 * 1024;

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A client that waits for `100 Continue` may never send its body. */
function isWorthWaitingFor({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= SMALL_BYTES && headers.expect === undefined;
}

/**
 * Ends our half of the connection and throws away what still comes, until the client closes its half or some seconds have passed. Closing a
 * connection with unread bytes resets it, and the client may lose the answer (RFC 9112, 9.6).
 */
function closeAfterRest(socket: Socket, request: IncomingMessage): void {
  socket.end();
  // The former reader has given up and would hold the bytes back.
  request.removeAllListeners('readable').removeAllListeners('data');
  request.on('data', () => undefined).resume();
  closeAtLast(socket);
}

/** Closes a connection after some seconds where its client does not. */
function closeAtLast(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** The current answer of each connection. */
const underWay = new WeakMap<Duplex, ServerResponse>();

/** The answer that has begun on a connection and is not sent whole; undefined where there is none. */
function answerUnderWay(socket: Duplex): ServerResponse | undefined {
  const answer = underWay.get(socket);
  return answer?.writableFinished === false ? answer : undefined;
}

/**
 * A response that may begin before the body of its request has come whole. The unread rest would be in the way of the next request, so the
 * connection is kept only where the rest is short.
 */
class LingeringResponse extends ServerResponse {
  override writeHead(...head: readonly unknown[]): this {
    const { req: request, socket } = this;
    if (socket !== null) underWay.set(socket, this);
    // Node may not know yet that a request without a body is complete.
    if (!this.headersSent && socket !== null && !request.complete && hasBody(request)) {
      if (!isWorthWaitingFor(request)) this.shouldKeepAlive = false;
      // Node calls this after the last response of a connection.
      socket.destroySoon = () => (request.complete ? Socket.prototype.destroySoon.call(socket) : closeAfterRest(socket, request));
    }
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>));
  }
}

/** Answers with ProblemDetails where there is no response object, and closes the connection. */
function answerOnSocket(socket: Duplex, statusLine: string, problem: RequestProblem): void {
  const body = problemBody(problem, null);
  const headers = {
    ...problem.headers,
    ...SECURITY_HEADERS,
    Connection: 'close',
    'Content-Type': PROBLEM_CONTENT_TYPE,
    'Content-Length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${statusLine}\r\n${lines.join('')}\r\n${body}`);
  closeAtLast(socket);
}

const SOCKET_PROBLEMS: Readonly<Record<string, readonly [string, ErrorKey, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request.timeout', 'The request did not arrive whole in time'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'header.too_large', 'The request line and headers are larger than 16 KiB'],
};

/** Answers bytes that are no HTTP request. */
export function answerBrokenConnection(error: Error & { readonly code?: string }, socket: Duplex): void {
  // An answer has been sent already. The client gets the time to read it.
  if (socket.writableEnded && error.code?.startsWith('HPE_')) return;
  const answer = answerUnderWay(socket);
  // A second answer in the middle of another would be taken for a part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.writableEnded === false) {
    socket.destroy();
    return;
  }
  if (answer !== undefined) {
    socket.end();
    closeAtLast(socket);
    return;
  }
  const [statusLine, key, detail] = SOCKET_PROBLEMS[error.code ?? ''] ?? [
    '400 Bad Request',
    'request.malformed',
    'The bytes received are not an HTTP request',
  ];
  answerOnSocket(socket, statusLine, new RequestProblem(key, detail));
}

/** Answers CONNECT. Node would close the connection without an answer. */
export function refuseTunnel(request: IncomingMessage, socket: Duplex): void {
  // Node no longer listens to the socket. Without a listener a client that goes away now would end the program.
  socket.on('error', () => socket.destroy());
  const detail = `There are no tunnels here, to ${request.url} or elsewhere: CONNECT is not answered`;
  answerOnSocket(socket, '405 Method Not Allowed', new RequestProblem('route.method_not_allowed', detail, { headers: { Allow: '' } }));
}

/** Longer than the 60 s for which load balancers keep a connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 72_000;

export interface HttpServerOptions {
  /** Further connections are closed at once, without an answer. */
  readonly maxConnections: number;
  /** Called for the first connection of each minute that was closed. */
  readonly onRefused: () => void;
  /** How long a client may take none of the bytes that wait for it, in milliseconds, unless the route says otherwise. */
  readonly idleMs?: number;
}

const TELL_EVERY_MS = 60_000;

function limitConnections(server: Server, { maxConnections, onRefused }: HttpServerOptions): void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < TELL_EVERY_MS) return;
    toldAtMs = nowMs;
    onRefused();
  });
}

/**
 * An HTTP server that hands every request to `handler`, also those without `Host` or with `Expect`, which Node would answer without a body.
 * The handler sends `100 Continue`. A connection whose request was answered before its body had come is closed, so that the client can read
 * the answer and does not wait for one to its next request.
 */
export function createHttpServer(handler: RequestListener, options: HttpServerOptions): Server {
  const listener: RequestListener = (request, response) => {
    // Bytes after the last request of a connection cannot be answered, and must not be acted on.
    if (request.socket.writableEnded) {
      request.resume();
      return;
    }
    // Answers that a route writes past Fastify have the headers, too.
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    cutOffIdle(response, options.idleMs);
    handler(request, response);
  };
  const server = createServer({ requireHostHeader: false, ServerResponse: LingeringResponse }, listener);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // An upload may take any time. The routes have deadlines for their bodies, and Node has one of 60 s for the headers.
  server.requestTimeout = 0;
  limitConnections(server, options);
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', refuseTunnel);
  return server;
}
