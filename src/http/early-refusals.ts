import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { RequestProblem } from './problem.ts';
import { requireBodyLength } from './request-body.ts';

/** RFC 9112, section 3.2: exactly one, which may be empty; older clients send none. */
function requireHost({ raw }: FastifyRequest): void {
  const hosts = raw.headersDistinct['host']?.length ?? 0;
  if (hosts === 1 || (hosts === 0 && raw.httpVersion !== '1.1')) return;
  throw new RequestProblem('request.malformed', `The request has ${hosts} Host headers; HTTP/1.1 needs exactly one`);
}

/** What the client waits for before it sends its body, in lower case. HTTP/1.0 has no expectations. */
function expectationOf({ raw }: FastifyRequest): string | undefined {
  return raw.httpVersion === '1.1' ? raw.headers.expect?.trim().toLowerCase() : undefined;
}

function requireKnownExpectation(request: FastifyRequest): void {
  const expected = expectationOf(request);
  if (expected === undefined || expected === '100-continue') return;
  throw new RequestProblem('expect.unsupported', `Expect: ${request.raw.headers.expect} cannot be met; allowed: 100-continue`);
}

/**
 * Refuses what the headers alone make wrong, before the body is asked for: a client that waits for `100 Continue` gets it only where its
 * body will be read. Register before any route.
 */
export const earlyRefusals = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', async (request) => {
    requireHost(request);
    requireKnownExpectation(request);
  });
  // After all hooks and routes have judged the headers, in `onRequest`.
  app.addHook('preParsing', async (request, reply) => {
    requireBodyLength(Number(request.headers['content-length'] ?? 0), request);
    if (expectationOf(request) !== undefined) reply.raw.writeContinue();
  });
});
