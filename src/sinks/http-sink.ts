import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import type { HttpClient } from './http-exchange.ts';
import { lineChunks } from './line-chunks.ts';
import { refusedAnswer } from './refused-answer.ts';
import type { Sink } from './sink.ts';

const gzip = promisify(gzipCallback);

/** Collectors limit their bodies, many to some MiB. */
export const LARGEST_BODY_BYTES = 4 * 1024 * 1024;
const SILENCE_MS = 60_000;
export const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface HttpSinkOptions {
  readonly url: URL;
  /** Sent as bearer token. */
  readonly token: string | null;
  readonly gzip: boolean;
  readonly client: HttpClient;
  /** Unix ms UTC. */
  readonly now: () => number;
}

/** The two halves of newline-terminated lines; null where there is only one line. */
function halved(lines: Buffer): readonly [Buffer, Buffer] | null {
  const before = lines.lastIndexOf(NEWLINE, Math.max(0, Math.floor(lines.length / 2) - 1));
  const cut = (before >= 0 ? before : lines.indexOf(NEWLINE)) + 1;
  return cut <= 0 || cut >= lines.length ? null : [lines.subarray(0, cut), lines.subarray(cut)];
}

/** POSTs batches as NDJSON to a URL; any 2xx accepts one. Bodies that are too large (413) are halved. */
export function httpSink({ url, token, gzip: compress, client, now }: HttpSinkOptions): Sink {
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(compress ? { 'content-encoding': 'gzip' } : {}),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const place = `${url.origin}${url.pathname}`;

  async function post(lines: Buffer, signal: AbortSignal): Promise<void> {
    const body = compress ? await gzip(lines) : lines;
    const answer = await client.exchange({
      method: 'POST',
      url,
      headers,
      body,
      signal,
      silenceMs: SILENCE_MS,
      largestBytes: LARGEST_ANSWER_BYTES,
    });
    if (answer.status >= 200 && answer.status < 300) return;
    const halves = answer.status === 413 ? halved(lines) : null;
    if (halves === null) throw refusedAnswer(`POST ${place}`, answer, now());
    for (const half of halves) await post(half, signal);
  }

  return {
    name: place,
    async deliver({ bytes }, signal) {
      for (const chunk of lineChunks(bytes, LARGEST_BODY_BYTES)) await post(chunk, signal);
      return null;
    },
    close: async () => client.close(),
  };
}
