import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { type BodyMemory, FREE_BODY_BYTES } from './body-memory.ts';
import { RequestProblem } from './problem.ts';
import { requireBodyLength } from './request-body.ts';

/** HTTP/1.1 needs exactly one `Host`, which may be empty (RFC 9112, 3.2). Older clients send none. */
function requireHost({ raw }: FastifyRequest): void {
  const hosts = raw.headersDistinct['host']?.length ?? 0;
  if (hosts === 1 || (hosts === 0 && raw.httpVersion !== '1.1')) return;
  throw new RequestProblem('request.malformed', `The request has ${hosts} Host headers; HTTP/1.1 needs exactly one`);
}

/** The value of `Expect` in lower case. HTTP/1.0 has no expectations. */
function expectationOf({ raw }: FastifyRequest): string | undefined {
  return raw.httpVersion === '1.1' ? raw.headers.expect?.trim().toLowerCase() : undefined;
}

function requireKnownExpectation(request: FastifyRequest): void {
  const expected = expectationOf(request);
  if (expected === undefined || expected === '100-continue') return;
  throw new RequestProblem('expect.unsupported', `Expect: ${request.raw.headers.expect} cannot be met; allowed: 100-continue`);
}

export interface EarlyRefusalsOptions {
  readonly bodies: BodyMemory;
}

/**
 * Refuses a request for its headers alone, before its body is read. A client that waits for `100 Continue` gets it only where its body will
 * be read. Register before any route.
 */
export const earlyRefusals = fastifyPlugin(async (app: FastifyInstance, { bodies }: EarlyRefusalsOptions) => {
  app.addHook('onRequest', async (request) => {
    requireHost(request);
    requireKnownExpectation(request);
  });
  // By now all hooks and routes have checked the headers in `onRequest`.
  app.addHook('preParsing', async (request, reply) => {
    const lengthBytes = Number(request.headers['content-length'] ?? 0);
    requireBodyLength(lengthBytes, request);
    const neededBytes = request.routeOptions.config.bodyNeeds?.(request) ?? lengthBytes - FREE_BODY_BYTES;
    if (neededBytes > 0) bodies.requireRoom(request, neededBytes);
    if (expectationOf(request) !== undefined) reply.raw.writeContinue();
  });
});

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether requests are answered although the program is stopping. */
    readonly whileStopping?: boolean;
    /** What the memory of bodies has to have room for when a body of the route is begun, in bytes. By default all of the body. */
    readonly bodyNeeds?: (request: FastifyRequest) => number;
  }
  interface FastifyInstance {
    /** True from the moment `close` is called. */
    isStopping(): boolean;
    /** The requests that are not answered yet, such as `GET /metrics`. */
    underWay(): readonly string[];
  }
}

/** Answers new requests on open connections with 503 once the program is stopping. Requests under way are finished. */
export const stopping = fastifyPlugin(async (app: FastifyInstance) => {
  let isStopping = false;
  const requests = new Set<FastifyRequest>();
  app.decorate('isStopping', () => isStopping);
  app.decorate('underWay', () => [...requests].map(({ method, routeOptions, url }) => `${method} ${routeOptions.url ?? url}`));
  app.addHook('preClose', async () => {
    isStopping = true;
  });
  app.addHook('onRequest', async (request, reply) => {
    requests.add(request);
    // This also happens where the client went away.
    reply.raw.once('close', () => requests.delete(request));
    if (!isStopping || request.routeOptions.config?.whileStopping === true) return;
    throw new RequestProblem('program.stopping', 'The program is stopping; try again when it is back', { headers: { 'retry-after': '5' } });
  });
});
