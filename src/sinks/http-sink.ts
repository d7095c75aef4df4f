import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { type HttpClient, RECEIVER_LIMITS, refusedAnswer } from './http-exchange.ts';
import { hasSeveralLines, LineRequests } from './line-requests.ts';
import type { Sink } from './sink.ts';

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
 * POSTs batches as NDJSON to a URL. Any 2xx accepts one; a body that is too large (413) is sent again in smaller ones (`LineRequests`).
 * `refusedAnswer` says which other answers are worth another attempt (408, 425, 429, and any 5xx but 501); `feed-retry.ts` waits and tries again.
 */
export function httpSink({ url, token, gzip: compress, client, now }: HttpSinkOptions): Sink {
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(compress ? { 'content-encoding': 'gzip' } : {}),
    ...(token === null ? {} : { authorization: `Bearer ${token}`, accesskey: token }),
  };
  const name = `${url.origin}${url.pathname}`;
  const requests = new LineRequests(MAX_BODY_BYTES);

  async function post(lines: Buffer, signal: AbortSignal): Promise<'too large' | readonly Buffer[]> {
    const body = compress ? await gzip(lines) : lines;
    const answer = await client.exchange({ method: 'POST', url, headers, body, signal, ...RECEIVER_LIMITS });
    if (answer.status === 413 && hasSeveralLines(lines)) return 'too large';
    if (answer.status < 200 || answer.status > 299) throw refusedAnswer(`POST ${name}`, answer, now());
    return [];
  }

  return {
    name,
    async deliver({ bytes }, signal) {
      await requests.sendAll(bytes, (lines) => post(lines, signal));
      return null;
    },
    close: async () => client.close(),
  };
}
