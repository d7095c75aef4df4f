import { on } from 'node:events';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MOST_ENVELOPE_BYTES } from '../../ingest/doors/envelope.ts';
import { GatheredBytes } from '../../ingest/event/gathered-bytes.ts';
import { DECODER_BYTES, decompressed } from '../../ingest/upload/decompress.ts';
import { UnreadableInput } from '../../ingest/upload/intake-report.ts';
import { type BodyMemory, FREE_BODY_BYTES, type HeldBody } from './body-memory.ts';
import { uploadEncoding } from './content-negotiation.ts';
import { RequestProblem } from './problem.ts';

/** How long a client may keep a request waiting for its body, in milliseconds. */
export const BODY_DEADLINE_MS = 30_000;

/** The longest body of a search or an export, in bytes: enough for some thousands of filter values. */
export const SEARCH_BODY_BYTES = 1024 * 1024;

function tooLate(what: string): RequestProblem {
  // The rest of the body may still come, and must not be taken for the next request.
  return new RequestProblem('request.timeout', what, { headers: { connection: 'close' } });
}

/** How long a body may be waited for, in milliseconds, and what to say once that is over. `waitedMs` is how long no byte came. */
type Patience = (waitedMs: number) => { readonly leftMs: number; readonly what: string };

/** The patience for a whole body, which begins now. */
function wholeWithin(deadlineMs: number): Patience {
  const endsAtMs = performance.now() + deadlineMs;
  const what = `the request body did not arrive whole within ${deadlineMs} ms`;
  return () => ({ leftMs: endsAtMs - performance.now(), what });
}

/** Rejects with RequestProblem `request.timeout` once the patience ends, and with `store.busy` where the body is ended meanwhile. */
async function inTime<T>(work: Promise<T>, patience: Patience, held: HeldBody): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const sinceMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const { leftMs, what } = patience(performance.now() - sinceMs);
    if (leftMs <= 0) reject(tooLate(what));
    else timer = setTimeout(look, Math.ceil(leftMs));
  };
  look();
  held.whenEnded(reject);
  try {
    return await Promise.race([late, work]);
  } finally {
    clearTimeout(timer);
  }
}

/** The stream is paused while two chunks wait to be asked for, which HeldBody does not count. */
const FEW_AT_A_TIME = { close: ['end', 'close'], highWaterMark: 1, lowWaterMark: 1 };
/** A client may send an event, or a byte, in each chunk: behind one shorter than this, chunks are joined, because each costs a turn. */
const SHORT_BYTES = 4 * 1024;
/** So many bytes are joined at most. */
const JOINED_BYTES = 16 * 1024;

/**
 * The chunks of a body as they came, but for short ones: the stream's own iterator joins all that have come meanwhile, which copies every
 * byte. The stream stays open when no more are asked for, because the answer goes out on the same connection.
 */
async function* chunksOf(body: Readable, patience: Patience, held: HeldBody): AsyncGenerator<Buffer> {
  const wasOver = body.closed || body.readableEnded;
  const chunks = on(body, 'data', FEW_AT_A_TIME);
  try {
    // A stream that was over before tells nobody that it is.
    while (!wasOver) {
      const { done, value } = await inTime(chunks.next(), patience, held);
      if (done === true) break;
      const chunk = value[0] as Buffer;
      // What is read here comes as one chunk more behind those that wait.
      if (chunk.length < SHORT_BYTES && body.readableLength > 0) body.read(Math.min(body.readableLength, JOINED_BYTES));
      const givenMs = performance.now();
      yield chunk;
      held.wasPaused(performance.now() - givenMs);
    }
    if (!body.readableEnded) throw body.errored ?? Object.assign(new Error('the body broke off'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  } finally {
    await chunks.return?.();
    body.pause();
  }
}

/**
 * The chunks of a body of any length. Throws RequestProblem `request.timeout` when no byte comes for `deadlineMs`, or an event that `held`
 * counts has no end for so long, and `store.busy` where the body gives way to another one.
 */
export function steadyChunks(body: Readable, held: HeldBody, deadlineMs: number): AsyncGenerator<Buffer> {
  const patience: Patience = (waitedMs) => {
    const idle = { leftMs: deadlineMs - waitedMs, what: `no byte of the request body came for ${deadlineMs} ms` };
    const leftMs = held.eventMsLeft();
    const what = `an event of more than ${FREE_BODY_BYTES} bytes did not arrive whole within ${deadlineMs} ms`;
    return leftMs < idle.leftMs ? { leftMs, what } : idle;
  };
  return chunksOf(body, patience, held);
}

/** Takes the bytes of a body that was read whole, which then do not stay with the request; none where it had no body. */
export function wholeBody(request: Pick<FastifyRequest, 'body'>): Uint8Array {
  const { body } = request;
  request.body = undefined;
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
 * A content type parser for the whole body. Throws RequestProblem `body.too_large` past the route's limit, `request.timeout` after the
 * memory's deadline, `store.busy` where the memory has no room, and the stream's own error when the client goes away.
 */
export function wholeBodyIn(bodies: BodyMemory): (request: FastifyRequest, body: Readable) => Promise<Buffer> {
  return async (request, body) => {
    using held = bodies.open(request);
    const mostBytes = Number(request.headers['content-length'] ?? request.routeOptions.bodyLimit);
    const gathered = new GatheredBytes();
    for await (const chunk of chunksOf(body, wholeWithin(bodies.deadlineMs), held)) {
      requireBodyLength(gathered.length + chunk.length, request);
      held.hold('body', gathered.capacityWith(chunk.length, mostBytes));
      gathered.add(chunk, mostBytes);
    }
    return gathered.take();
  };
}

/** The longest body of a door, decompressed, in bytes. */
export const DOOR_BODY_BYTES = MOST_ENVELOPE_BYTES;

/**
 * Reads the body of a door whole and decompressed, and a NUL behind its end. `held` counts what there is of it, and waits for room. Throws
 * as `wholeBodyIn`, and RequestProblem `request.malformed` where the compressed data is damaged or cut off.
 */
export async function decodedBody(request: FastifyRequest, held: HeldBody, deadlineMs: number): Promise<Buffer<ArrayBuffer>> {
  const encoding = uploadEncoding(request.headers['content-encoding']);
  const patience = wholeWithin(deadlineMs);
  const gathered = new GatheredBytes();
  const mostBytes = DOOR_BODY_BYTES + 1;
  const gather = async (chunk: Uint8Array): Promise<void> => {
    await held.whenRoom(() => held.hold('body', gathered.capacityWith(chunk.length, mostBytes)));
    gathered.add(chunk, mostBytes);
  };
  if (encoding === 'gzip' || encoding === 'zstd') await held.whenRoom(() => held.hold('decoder', DECODER_BYTES));
  const body = (request.body as Readable | undefined) ?? request.raw;
  try {
    for await (const chunk of decompressed(chunksOf(body, patience, held), encoding, { memory: held })) {
      requireBodyLength(gathered.length + chunk.length, request);
      await gather(chunk);
    }
  } catch (error) {
    if (error instanceof UnreadableInput) throw new RequestProblem('request.malformed', error.message, { cause: error });
    throw error;
  }
  await gather(Uint8Array.of(0));
  return gathered.take();
}

/** Reads the bodies of these routes whole and byte for byte, so that no integer loses digits. Their hooks check the content type. */
export function takeWholeBodies(app: FastifyInstance, bodies: BodyMemory): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', wholeBodyIn(bodies));
}
