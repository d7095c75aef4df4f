import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { type HttpClient, RECEIVER_LIMITS, refusedAnswer, STATUS_LIMITS } from './http-exchange.ts';
import { hasSeveralLines, LineRequests } from './line-requests.ts';
import { readAnswer } from './receiver-answers.ts';
import { type AnswerReading, type Delivery, deliveredWhole, type RefusedEvent, type Sink } from './sink.ts';

const gzip = promisify(gzipCallback);

/** Many receivers limit a request to some MiB. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface HttpSinkOptions extends AnswerReading {
  readonly url: URL;
  /** A bearer token, or an access key of another program like this one. */
  readonly token: string | null;
  readonly gzip: boolean;
  readonly client: HttpClient;
  /** Unix ms UTC. */
  readonly now: () => number;
}

/**
 * POSTs batches as NDJSON to a URL. A 2xx accepts one as far as its body says so (`readAnswer`); a body that is too large (413) is sent
 * again in smaller ones (`LineRequests`). `refusedAnswer` says which other answers are worth another attempt (408, 425, 429, and any 5xx
 * but 501); `feed-retry.ts` waits and tries again.
 */
export function httpSink({ url, token, gzip: compress, client, now, acceptAny, setsAside }: HttpSinkOptions): Sink {
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(compress ? { 'content-encoding': 'gzip' } : {}),
    ...(token === null ? {} : { authorization: `Bearer ${token}`, accesskey: token }),
  };
  const name = `${url.origin}${url.pathname}`;
  const request = `POST ${name}`;
  const limits = acceptAny ? STATUS_LIMITS : RECEIVER_LIMITS;
  const requests = new LineRequests(MAX_BODY_BYTES);

  /** Sends lines, and resolves with what became of them, or with null where they are several and too large. */
  async function post(lines: Buffer, signal: AbortSignal): Promise<Delivery | null> {
    const body = compress ? await gzip(lines) : lines;
    const answer = await client.exchange({ method: 'POST', url, headers, body, signal, ...limits });
    if (answer.status >= 200 && answer.status < 300) {
      if (acceptAny) return deliveredWhole(null);
      return { position: null, ...readAnswer({ request, answer, lines, setsAside, nowMs: now() }) };
    }
    if (answer.status === 413 && hasSeveralLines(lines)) return null;
    const error = refusedAnswer(request, answer, now());
    if (answer.status !== 413 || !setsAside) throw error;
    return { position: null, refused: [{ line: lines.subarray(0, -1), reason: error.message }], expired: 0 };
  }

  return {
    name,
    async deliver({ bytes }, signal) {
      const refused: RefusedEvent[] = [];
      let expired = 0;
      await requests.sendAll(bytes, async (lines) => {
        const delivery = await post(lines, signal);
        if (delivery === null) return 'too large';
        refused.push(...delivery.refused);
        expired += delivery.expired;
        return [];
      });
      return { position: null, refused, expired };
    },
    close: async () => client.close(),
  };
}
