import { createServer, type RequestListener, type Server } from 'node:http';
import { refuseTunnel } from './connection-answers.ts';
import { LingeringResponse } from './lingering-close.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Longer than the 60 s for which load balancers keep a connection, so that it is not closed under a request. */
const KEEP_ALIVE_MS = 72_000;

export interface HttpServerOptions {
  /** At most so many connections at a time; those beyond are closed at once, without an answer. */
  readonly maxConnections: number;
  /** Told of the first connection of each minute that was closed so. */
  readonly onRefused: () => void;
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
 * An HTTP server that hands every request to `handler`, also those that Node would answer itself and without a body: without `Host`, or
 * with an `Expect` header. `100 Continue` is then the handler's to send. A connection whose request was answered before
 * its body had come is closed, so that the client can read the answer and does not wait for one to its next request.
 */
export function createHttpServer(handler: RequestListener, options: HttpServerOptions): Server {
  const listener: RequestListener = (request, response) => {
    // What comes behind the last request that the connection was kept for cannot be answered, and must not be done.
    if (request.socket.writableEnded) {
      request.resume();
      return;
    }
    // Set here, so that answers that a route writes past Fastify have them too.
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    handler(request, response);
  };
  const server = createServer({ requireHostHeader: false, ServerResponse: LingeringResponse }, listener);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // An upload may take any time. The routes have deadlines for their bodies; for the headers Node's 60 s hold.
  server.requestTimeout = 0;
  limitConnections(server, options);
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', refuseTunnel);
  return server;
}
