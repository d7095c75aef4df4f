import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import type { FeedFormatName } from '../formats/feed-format.ts';
import { DeliveryError } from './delivery-error.ts';
import { ackIdIn, acknowledgedIn, hecRefusal } from './hec-answer.ts';
import { type HecFields, hecEvent } from './hec-event.ts';
import type { HttpAnswer, HttpClient } from './http-exchange.ts';
import { lineChunks, linesOf } from './line-chunks.ts';
import type { Sink } from './sink.ts';

const gzip = promisify(gzipCallback);

/** Splunk Cloud takes 1 MiB; what a line gains as an event is little. */
export const CHUNK_BYTES = 768 * 1024;
const SILENCE_MS = 60_000;
const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024;
const FIRST_POLL_MS = 25;

export interface HecSinkOptions {
  /** http: or https:, without `/services/collector`. */
  readonly url: URL;
  readonly token: string | null;
  readonly fields: HecFields;
  readonly format: FeedFormatName;
  readonly gzip: boolean;
  /** A GUID of this sender, to which acknowledgements belong. */
  readonly channel: string;
  /** What is not acknowledged after this long is sent again; milliseconds. */
  readonly ackDeadlineMs: number;
  /** Between two questions for acknowledgements at most; milliseconds. */
  readonly ackPollMs: number;
  readonly client: HttpClient;
  /** Unix ms UTC. */
  readonly now: () => number;
  /** Takes messages for people. */
  readonly tell: (message: string) => void;
}

/**
 * Sends batches to Splunk's HTTP event collector. Where its token has indexer acknowledgement, a batch is accepted when all of it is
 * acknowledged; otherwise when Splunk has taken it, which it does before it is on disk. Where only a part of it can be acknowledged, it is
 * not accepted.
 */
export function hecSink(options: HecSinkOptions): Sink {
  const { url, token, fields, format, channel, ackDeadlineMs, ackPollMs, client, now, tell } = options;
  const base = `${url.origin}${url.pathname.replace(/\/$/, '')}/services/collector`;
  let toldOfNoAcks = false;
  const headers = {
    'content-type': 'application/json',
    'x-splunk-request-channel': channel,
    ...(token === null ? {} : { authorization: `Splunk ${token}` }),
  };

  async function post(
    path: string,
    body: Uint8Array,
    signal: AbortSignal,
    more: Readonly<Record<string, string>> = {},
  ): Promise<HttpAnswer> {
    const target = new URL(`${base}${path}`);
    const answer = await client.exchange({
      method: 'POST',
      url: target,
      headers: { ...headers, ...more },
      body,
      signal,
      silenceMs: SILENCE_MS,
      largestBytes: LARGEST_ANSWER_BYTES,
    });
    if (answer.status < 200 || answer.status > 299) throw hecRefusal(`POST ${target.origin}${target.pathname}`, answer, now());
    return answer;
  }

  /** The acknowledgement to wait for, or null. */
  async function sendEvents(lines: Buffer, signal: AbortSignal): Promise<number | null> {
    const events = Buffer.from(Array.from(linesOf(lines), (line) => hecEvent(format, fields, line.toString('utf8'))).join('\n'));
    if (!options.gzip) return ackIdIn(await post('/event', events, signal));
    return ackIdIn(await post('/event', await gzip(events), signal, { 'content-encoding': 'gzip' }));
  }

  async function untilAcknowledged(sent: ReadonlySet<number>, signal: AbortSignal): Promise<void> {
    const awaited = new Set(sent);
    const giveUpAtMs = now() + ackDeadlineMs;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs *= 2) {
      const question = Buffer.from(JSON.stringify({ acks: [...awaited] }));
      const answer = await post(`/ack?channel=${encodeURIComponent(channel)}`, question, signal);
      for (const id of acknowledgedIn(answer)) awaited.delete(id);
      if (awaited.size === 0) return;
      if (now() >= giveUpAtMs) {
        const missing = `${awaited.size} of ${sent.size} acknowledgements of the batch did not come within ${ackDeadlineMs / 1_000} s`;
        throw new DeliveryError('unavailable', `${base}: ${missing}`);
      }
      await sleep(Math.min(pauseMs, ackPollMs), undefined, { signal });
    }
  }

  return {
    name: base,
    async deliver({ bytes }, signal) {
      const ids: (number | null)[] = [];
      for (const chunk of lineChunks(bytes, CHUNK_BYTES)) ids.push(await sendEvents(chunk, signal));
      const awaited = new Set(ids.filter((id) => id !== null));
      // A token acknowledges every request or none, each under a number of its own: else some answers are of other tokens or other
      // machines, and nobody would notice what those lose.
      if (awaited.size > 0 && awaited.size < ids.length) {
        const found = `only ${awaited.size} of the batch's ${ids.length} requests have an acknowledgement of their own`;
        const advice = 'behind a load balancer, all of a sender must reach the same Splunk, whose token must be the same everywhere';
        throw new DeliveryError('unavailable', `${base}: ${found}; ${advice}`);
      }
      if (awaited.size > 0) await untilAcknowledged(awaited, signal);
      else if (!toldOfNoAcks) {
        toldOfNoAcks = true;
        tell(`${base} acknowledges no indexing: what Splunk has taken counts as delivered; enable indexer acknowledgement for its token`);
      }
      return null;
    },
    close: async () => client.close(),
  };
}
