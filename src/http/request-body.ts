import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestProblem } from './problem.ts';

/** How long a client may keep a request waiting for its body, in milliseconds. */
export const BODY_DEADLINE_MS = 30_000;

/** The longest body of a search or an export, in bytes: enough for some thousands of filter values. */
export const SEARCH_BODY_BYTES = 1024 * 1024;

function tooLate(what: string): RequestProblem {
  // The rest of the body may still come, and must not be taken for the next request.
  return new RequestProblem('request.timeout', what, { headers: { connection: 'close' } });
}

async function withinMs<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooLate(what)), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The chunks of a body. The stream stays open when no more are asked for, because the answer goes out on the same connection. */
async function* chunksOf(body: Readable, msLeft: () => number, what: string): AsyncGenerator<Buffer> {
  const chunks = body.iterator({ destroyOnReturn: false });
  let isWaiting = false;
  try {
    for (;;) {
      isWaiting = true;
      const chunk = await withinMs(msLeft(), chunks.next(), what);
      isWaiting = false;
      if (chunk.done === true) return;
      yield chunk.value as Buffer;
    }
  } finally {
    // An iterator that waits for a chunk cannot be ended before that chunk has come.
    if (!isWaiting) await chunks.return?.();
  }
}

/** The chunks of a body of any length. Throws RequestProblem `request.timeout` when no byte comes for `idleMs`. */
export function steadyChunks(body: Readable, idleMs: number): AsyncGenerator<Buffer> {
  return chunksOf(body, () => idleMs, `no byte of the request body came for ${idleMs} ms`);
}

/** The bytes of a body that was read whole; none where the request had no body. */
export function wholeBody({ body }: Pick<FastifyRequest, 'body'>): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array();
}

/** Throws RequestProblem `body.too_large` for a length that the route does not take. */
export function requireBodyLength(lengthBytes: number, request: FastifyRequest): void {
  const { bodyLimit } = request.routeOptions;
  if (bodyLimit === undefined || lengthBytes <= bodyLimit) return;
  throw new RequestProblem('body.too_large', `The request body has more than ${bodyLimit} bytes; allowed: at most ${bodyLimit} bytes`, {
    headers: { connection: 'close' },
  });
}

/**
 * A content type parser for the whole body. Throws RequestProblem `body.too_large` past the route's limit, `request.timeout` after
 * `deadlineMs`, and the stream's own error when the client goes away.
 */
export function wholeBodyWithin(deadlineMs: number): (request: FastifyRequest, body: Readable) => Promise<Buffer> {
  const what = `the request body did not arrive whole within ${deadlineMs} ms`;
  return async (request, body) => {
    const endsAtMs = performance.now() + deadlineMs;
    const chunks: Buffer[] = [];
    let lengthBytes = 0;
    for await (const chunk of chunksOf(body, () => endsAtMs - performance.now(), what)) {
      lengthBytes += chunk.length;
      requireBodyLength(lengthBytes, request);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };
}

/** Reads the bodies of these routes whole and byte for byte, so that no integer loses digits. Their hooks check the content type. */
export function takeWholeBodies(app: FastifyInstance, deadlineMs: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', wholeBodyWithin(deadlineMs));
}
