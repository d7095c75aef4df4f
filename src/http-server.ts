import { createServer, type RequestListener, type Server } from 'node:http';
import { refuseTunnel } from './connection-answers.ts';

/** Longer than the 60 s for which load balancers keep a connection, so that it is not closed under a request. */
const KEEP_ALIVE_MS = 72_000;

/**
 * An HTTP server that hands every request to `handler`, also those that Node would answer itself and without a body: without `Host`, or with an
 * `Expect` header. `100 Continue` is then the handler's to send.
 */
export function createHttpServer(handler: RequestListener): Server {
  const server = createServer({ requireHostHeader: false }, handler);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // An upload may take any time. The routes have deadlines for their bodies; for the headers Node's 60 s hold.
  server.requestTimeout = 0;
  server.on('checkContinue', handler);
  server.on('checkExpectation', handler);
  server.on('connect', refuseTunnel);
  return server;
}
