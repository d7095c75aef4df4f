import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { type HttpClient, RECEIVER_LIMITS, refusedAnswer } from './http-exchange.ts';
import { halves, lineChunks, type Sink } from './sink.ts';

const gzip = promisify(gzipCallback);

/** Many receivers limit a request to some MiB. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface HttpSinkOptions {
  readonly url: URL;
  /** A bearer token, or an access key of another program like this one. */
  readonly token: string | null;
  readonly gzip: boolean;
  readonly client: HttpClient;
  /** Unix ms UTC. */
  readonly now: () => number;
}

/**
 * POSTs batches as NDJSON to a URL. Any 2xx accepts one; a body that is too large (413) is sent again in halves. `refusedAnswer` says which
 * other answers are worth another attempt (408, 425, 429, and any 5xx but 501); `feed-retry.ts` waits and tries again.
 */
export function httpSink({ url, token, gzip: compress, client, now }: HttpSinkOptions): Sink {
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(compress ? { 'content-encoding': 'gzip' } : {}),
    ...(token === null ? {} : { authorization: `Bearer ${token}`, accesskey: token }),
  };
  const name = `${url.origin}${url.pathname}`;

  async function post(lines: Buffer, signal: AbortSignal): Promise<void> {
    const body = compress ? await gzip(lines) : lines;
    const answer = await client.exchange({ method: 'POST', url, headers, body, signal, ...RECEIVER_LIMITS });
    if (answer.status >= 200 && answer.status < 300) return;
    const smaller = answer.status === 413 ? halves(lines) : null;
    if (smaller === null) throw refusedAnswer(`POST ${name}`, answer, now());
    for (const half of smaller) await post(half, signal);
  }

  return {
    name,
    async deliver({ bytes }, signal) {
      for (const chunk of lineChunks(bytes, MAX_BODY_BYTES)) await post(chunk, signal);
      return null;
    },
    close: async () => client.close(),
  };
}
