import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SecureContext } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { connectionFault } from './connections.ts';
import { DeliveryError } from './sink.ts';

/** The feed of all zones lists the zones of the access key in a header. */
const MAX_HEADERS_BYTES = 256 * 1024;

/** The limits of an exchange with a receiver. */
export type ReceiverLimits = Pick<HttpRequest, 'silenceMs' | 'maxAnswerBytes' | 'answerMs' | 'isStatusEnough'>;

/** For receivers, which answer with little: the longest silence, the longest answer, and how long it may take. */
export const RECEIVER_LIMITS = { silenceMs: 60_000, maxAnswerBytes: 16 * 1024 * 1024, answerMs: 60_000 } as const;

/** For receivers of which the status alone counts: a body that does not end is not waited for. */
export const STATUS_LIMITS = { ...RECEIVER_LIMITS, answerMs: 1_000, isStatusEnough: true } as const;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes, or chunks as they come, of which an error that is a DeliveryError is thrown as it is. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
  /**
   * How long the other side may be silent: while connecting, before its answer, and within it; and how long it may take from the whole
   * request to the last header of its answer, though it is not silent. 0: any time.
   */
  readonly silenceMs: number;
  /** The limit of the answer's body, decompressed. */
  readonly maxAnswerBytes: number;
  /** How long the answer may take from its status to its end, in milliseconds; absent: any time. */
  readonly answerMs?: number;
  /** Whether a 2xx is an answer without the rest of its body. */
  readonly isStatusEnough?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer that is read while it arrives. */
export interface HttpStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed. Throws DeliveryError where the answer breaks off, or the signal's reason. Ending the loop closes the connection. */
  readonly body: AsyncIterable<Buffer>;
}

/** Reuses its connections, and follows no redirects. */
export interface HttpClient {
  /**
   * Resolves with the whole answer, decompressed. An answer that comes before the whole request is sent ends the sending. Throws
   * DeliveryError where no answer comes, it is too long, or it is a 2xx that comes that early; or the signal's reason.
   */
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  /** Resolves with the beginning of an answer of any length. Throws as `exchange`. */
  open(request: Omit<HttpRequest, 'maxAnswerBytes'>): Promise<HttpStream>;
  close(): void;
}

/** What servers compress with, though they are not asked to. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** Throws DeliveryError where the body of a success is in an encoding that is not known: what it says would go unread. */
async function* decompressed(response: IncomingMessage, { origin, pathname }: URL): AsyncIterable<Buffer> {
  const { statusCode = 0, headers } = response;
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  // Some servers name an encoding where nothing follows.
  const isEmpty = statusCode === 204 || headers['content-length'] === '0';
  const decoder = DECODERS.get(encoding);
  if (isEmpty || encoding === 'identity' || (decoder === undefined && statusCode >= 300)) {
    yield* response;
    return;
  }
  if (decoder === undefined)
    throw new DeliveryError('refused', `the answer of ${origin}${pathname} is in Content-Encoding ${encoding}, which is not read`);
  const through = decoder();
  // `pipe` does not pass on that the response breaks off.
  response.once('error', (error) => through.destroy(error));
  let isEncoded = false;
  response.once('data', () => {
    isEncoded = true;
  });
  try {
    yield* response.pipe(through);
  } catch (error) {
    // Where no length was told, that nothing follows shows at the end.
    if (isEncoded || !response.complete) throw error;
  }
}

/** Appends the body to `chunks`, which keep their bytes when the response breaks off. */
async function readBody(response: IncomingMessage, { url, maxAnswerBytes }: HttpRequest, chunks: Buffer[]): Promise<void> {
  let size = 0;
  for await (const chunk of decompressed(response, url)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxAnswerBytes)
      throw new DeliveryError('oversized', `the answer of ${url.origin}${url.pathname} is longer than ${maxAnswerBytes} bytes`);
  }
}

/** Errors of a write to a connection that the other side has closed. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET']);

type WriteCallback = (error?: Error | null) => void;

/**
 * Makes a socket read to the end before it reports a failed write. Node closes a socket at the first failed write, and would lose the
 * answer of a server that refuses a request before it has read all of it.
 */
function readToEnd<Connection extends Socket>(socket: Connection): Connection {
  const afterReading =
    (done: WriteCallback): WriteCallback =>
    (error) => {
      const code = (error as NodeJS.ErrnoException | null | undefined)?.code;
      if (!CLOSED.has(code) || socket.readableEnded || socket.destroyed) {
        done(error);
        return;
      }
      // A reset connection also emits `end`, after the bytes that came before the reset.
      socket.once('end', () => done(error));
    };
  const write = socket._write.bind(socket);
  const writeMany = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, afterReading(done));
  if (writeMany !== undefined) socket._writev = (chunks, done) => writeMany(chunks, afterReading(done));
  return socket;
}

function withReadToEnd<Agent extends HttpAgent>(agent: Agent): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const connection = connect(options, callback);
    return connection instanceof Socket ? readToEnd(connection) : connection;
  };
  return agent;
}

interface BegunAnswer {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  /** The reason why the response broke off, given the error of reading it. */
  readonly faultOf: (error: Error) => Error;
}

/** `trust` null: Node's own authorities. `caSetting` is what messages name that sets it. */
export function createHttpClient(trust: SecureContext | null, caSetting = '--ca'): HttpClient {
  const agents = {
    http: withReadToEnd(new HttpAgent({ keepAlive: true })),
    https: withReadToEnd(new HttpsAgent({ keepAlive: true, ...(trust === null ? {} : { secureContext: trust }) })),
  };

  async function begin(asked: Omit<HttpRequest, 'maxAnswerBytes'>): Promise<BegunAnswer> {
    const { method, url, headers, body, signal, silenceMs, answerMs } = asked;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const length = body instanceof Uint8Array ? { 'content-length': String(body.byteLength) } : {};
    const options: RequestOptions = {
      method,
      headers: { ...headers, ...length },
      signal,
      timeout: silenceMs,
      maxHeaderSize: MAX_HEADERS_BYTES,
    };
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: agents.https })
        : httpRequest(url, { ...options, agent: agents.http });
    request.once('response', resolve);
    // Node hands over the connection of such an answer, and ends without an error where nobody takes it.
    request.once('upgrade', (response, socket) => {
      socket.destroy();
      const asked = `${method} ${url.origin}${url.pathname}`;
      reject(new DeliveryError('refused', `${asked} answered ${response.statusCode}, and went on in a protocol that was not asked for`));
    });
    request.on('error', reject);
    let fault: Error | null = null;
    const giveUp = (why: string): void => {
      fault = new Error(why);
      request.destroy(fault);
    };
    request.once('timeout', () => giveUp(`it was silent for ${silenceMs / 1_000} s`));
    if (silenceMs > 0) {
      const notBegun = (): void => giveUp(`its answer did not begin within ${silenceMs / 1_000} s`);
      request.once('finish', () => {
        const late = setTimeout(notBegun, silenceMs);
        for (const event of ['response', 'close']) request.once(event, () => clearTimeout(late));
      });
    }
    if (body === undefined || body instanceof Uint8Array) request.end(body);
    // An error here is also one of the request. An early answer ends the pipeline, which is none.
    else pipeline(Readable.from(body), request).catch(() => undefined);
    const response = await promise;
    if (answerMs !== undefined) {
      const late = setTimeout(() => giveUp(`its answer did not end within ${answerMs / 1_000} s`), answerMs);
      response.once('close', () => clearTimeout(late));
    }
    // What breaks off because it is given up would only say that it was aborted.
    return { request, response, faultOf: (error) => fault ?? error };
  }

  async function answerTo(asked: HttpRequest): Promise<HttpAnswer> {
    const { method, url, signal, isStatusEnough = false } = asked;
    const { request, response, faultOf } = await begin(asked);
    const status = response.statusCode ?? 0;
    const chunks: Buffer[] = [];
    try {
      await readBody(response, asked, chunks);
    } catch (error) {
      // What is left of the answer is not read.
      request.destroy();
      // A refusal is known by its status, though its body may be cut off by the reset of an early one, or be no gzip although it says so.
      const isEnough = status < 300 ? isStatusEnough : !(error instanceof DeliveryError);
      if (!isEnough) throw error instanceof DeliveryError ? error : faultOf(error as Error);
    }
    const isSent = request.writableFinished;
    // A connection with a rest of the request or of the answer on it cannot be reused.
    if (!isSent || !response.complete) request.destroy();
    signal.throwIfAborted();
    if (status < 300 && !isSent) {
      const early = `${method} ${url.origin}${url.pathname} answered ${status} before the request was sent whole`;
      throw new DeliveryError('unavailable', early);
    }
    return { status, headers: response.headers, body: Buffer.concat(chunks) };
  }

  /** Throws the signal's reason, or the DeliveryError that an error of a request is. */
  function failed(error: unknown, { url, signal }: Pick<HttpRequest, 'url' | 'signal'>): never {
    signal.throwIfAborted();
    if (error instanceof DeliveryError) throw error;
    throw new DeliveryError('unavailable', connectionFault(url.origin, error as Error, caSetting), { cause: error });
  }

  async function* bodyOf({ request, response, faultOf }: BegunAnswer, asked: Pick<HttpRequest, 'url' | 'signal'>) {
    try {
      yield* decompressed(response, asked.url);
    } catch (error) {
      failed(error instanceof DeliveryError ? error : faultOf(error as Error), asked);
    } finally {
      request.destroy();
    }
  }

  return {
    async open(asked) {
      try {
        const begun = await begin(asked);
        return { status: begun.response.statusCode ?? 0, headers: begun.response.headers, body: bodyOf(begun, asked) };
      } catch (error) {
        return failed(error, asked);
      }
    },
    async exchange(request) {
      try {
        return await answerTo(request);
      } catch (error) {
        return failed(error, request);
      }
    },
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Statuses below 500 for which a retry may succeed: timeout, too early, too many. */
const RETRIABLE: ReadonlySet<number> = new Set([408, 425, 429]);

const NOT_IMPLEMENTED = 501;

/** Whether a retry may succeed where a request was answered so. */
export function isRetriable(status: number): boolean {
  return (status >= 500 && status !== NOT_IMPLEMENTED) || RETRIABLE.has(status);
}

export const MAX_REASON_LENGTH = 500;

/** The value of a body that is JSON; undefined for any other. */
export function jsonIn(body: Buffer): unknown {
  try {
    // Some servers write a byte order mark, which no JSON may begin with.
    return JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}

/** The members of a body that is a JSON object; none of any other: something on the way may have answered, and then the status decides. */
export function membersIn(body: Buffer): Readonly<Record<string, unknown>> {
  const value = jsonIn(body);
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The reason in an answer's body, in one line: `detail` of ProblemDetails, `text` of Splunk, `message`, or the beginning of the body. */
export function reasonIn(body: Buffer): string {
  const text = body.subarray(0, 64 * 1024).toString('utf8');
  let reason = text;
  try {
    const parsed = JSON.parse(text) as { readonly [name: string]: unknown } | null;
    reason = String(parsed?.['detail'] ?? parsed?.['text'] ?? parsed?.['message'] ?? text);
  } catch {
    // A body that is not JSON is shown as it is.
  }
  return reason.replace(/\s+/g, ' ').trim().slice(0, MAX_REASON_LENGTH);
}

/** Says where a redirect points. Its credentials and query, which may hold secrets, are left out. */
function redirectIn({ status, headers: { location = '' } }: HttpAnswer): string {
  const target = location
    .replace(/[?#].*$/s, '')
    .replace(/\/\/[^/]*@/, '//')
    .slice(0, MAX_REASON_LENGTH);
  return status >= 300 && status <= 399 && target !== '' ? `, with Location ${target}` : '';
}

/** Makes the error for an unexpected answer. `request` is how messages name the request, such as `POST https://host/path`. */
export function refusedAnswer(request: string, answer: HttpAnswer, nowMs: number): DeliveryError {
  const reason = reasonIn(answer.body);
  const message = `${request} answered ${answer.status}${redirectIn(answer)}${reason === '' ? '' : `: ${reason}`}`;
  const waitMs = retryAfterMs(answer.headers['retry-after'], nowMs);
  return new DeliveryError(isRetriable(answer.status) ? 'unavailable' : 'refused', message, { retryAfterMs: waitMs });
}

const MAX_RETRY_AFTER_MS = 3_600_000;

/** The dates of RFC 9110, 5.6.7. That of asctime does not say that it is of UTC. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]+, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/**
 * The wait of a `Retry-After` header (RFC 9110, 10.2.3: whole seconds or a date) in milliseconds, at most an hour; null if it has none.
 * Date.parse alone would take `1.5` and `-5` for days of the past.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  const isDate = HTTP_DATES.some((form) => form.test(text));
  const dateMs = isDate ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : dateMs - nowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}
