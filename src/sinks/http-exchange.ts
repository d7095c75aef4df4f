import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { connectionFault } from './connection-fault.ts';
import { DeliveryError } from './delivery-error.ts';
import { keepReading } from './keep-reading.ts';

/** The feed of all zones names those of the key in a header. */
const LARGEST_HEADERS_BYTES = 256 * 1024;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
  /** How long the other side may be silent: while it is connected to, before it answers, and within its answer. */
  readonly silenceMs: number;
  /** How long the answer may be, decompressed. */
  readonly largestBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Keeps its connections between requests; follows no redirects. */
export interface HttpClient {
  /**
   * The whole answer, decompressed, also where it came before the request was sent whole; then the rest of that is not sent. Throws
   * DeliveryError where there is no answer or it is too long, or the signal's reason.
   */
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

function decompressed(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  // A stream that ends or breaks early must break what reads it; `pipe` alone does not pass that on.
  const through = encoding === 'gzip' ? createGunzip() : encoding === 'zstd' ? createZstdDecompress() : null;
  if (through === null) return response;
  response.once('error', (error) => through.destroy(error));
  return response.pipe(through);
}

/** Fills `chunks` with the body. */
async function readBody(response: IncomingMessage, { url, largestBytes }: HttpRequest, chunks: Buffer[]): Promise<void> {
  let size = 0;
  for await (const chunk of decompressed(response)) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > largestBytes)
      throw new DeliveryError('oversized', `the answer of ${url.origin}${url.pathname} is longer than ${largestBytes} bytes`);
  }
}

/** An agent whose connections are read to their end also when they cannot be written any more. */
function reading<Agent extends HttpAgent>(agent: Agent): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const connection = connect(options, callback);
    return connection instanceof Socket ? keepReading(connection) : connection;
  };
  return agent;
}

/** `trust` null: the authorities that Node trusts by itself. */
export function createHttpClient(trust: SecureContext | null): HttpClient {
  const agents = {
    http: reading(new HttpAgent({ keepAlive: true })),
    https: reading(new HttpsAgent({ keepAlive: true, ...(trust === null ? {} : { secureContext: trust }) })),
  };

  async function answerTo(asked: HttpRequest): Promise<HttpAnswer> {
    const { method, url, headers, body, signal, silenceMs } = asked;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const length = body === undefined ? {} : { 'content-length': String(body.byteLength) };
    const options: RequestOptions = {
      method,
      headers: { ...headers, ...length },
      signal,
      timeout: silenceMs,
      maxHeaderSize: LARGEST_HEADERS_BYTES,
    };
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: agents.https })
        : httpRequest(url, { ...options, agent: agents.http });
    request.once('response', resolve);
    request.on('error', reject);
    request.once('timeout', () => request.destroy(new Error(`it was silent for ${silenceMs / 1_000} s`)));
    request.end(body);
    const response = await promise;
    const status = response.statusCode ?? 0;
    const chunks: Buffer[] = [];
    try {
      await readBody(response, asked, chunks);
    } catch (error) {
      // A refusal that cut the request short may be cut short itself by the reset that follows; its status says enough.
      if (error instanceof DeliveryError || status < 300 || request.writableFinished) throw error;
    } finally {
      // Answered before it was sent whole: nobody reads the rest, and the connection is of no use to a next request.
      if (!request.writableFinished) request.destroy();
    }
    signal.throwIfAborted();
    return { status, headers: response.headers, body: Buffer.concat(chunks) };
  }

  return {
    async exchange(request) {
      try {
        return await answerTo(request);
      } catch (error) {
        request.signal.throwIfAborted();
        if (error instanceof DeliveryError) throw error;
        throw new DeliveryError('unavailable', connectionFault(request.url.origin, error as Error), { cause: error });
      }
    },
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
