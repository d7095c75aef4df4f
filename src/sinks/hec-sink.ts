import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { eventTimeMs, FEED_FORMATS, type FeedFormatName } from '../formats/feed-formats.ts';
import { type HttpAnswer, type HttpClient, membersIn, RECEIVER_LIMITS, reasonIn, refusedAnswer } from './http-exchange.ts';
import { hasSeveralLines, LineRequests } from './line-requests.ts';
import { DeliveryError, linesOf, type Sink } from './sink.ts';

const gzip = promisify(gzipCallback);

/** Splunk Cloud takes requests of 1 MiB. The difference leaves room for what Splunk's events add to each line, unless lines are short. */
export const MAX_CHUNK_BYTES = 768 * 1024;
const FIRST_POLL_MS = 25;

/** Members of every event; null is not sent, so that the token's default applies. */
export interface HecFields {
  readonly source: string;
  readonly sourcetype: string;
  readonly index: string | null;
  readonly host: string | null;
}

export interface HecSinkOptions {
  /** The URL of the collector, http: or https:, without `/services/collector`. */
  readonly url: URL;
  readonly token: string | null;
  readonly fields: HecFields;
  readonly format: FeedFormatName;
  readonly gzip: boolean;
  /** A GUID of this sender. Splunk keeps acknowledgements by channel. */
  readonly channel: string;
  /** A batch without its acknowledgements after so many milliseconds is sent again. */
  readonly ackDeadlineMs: number;
  /** The longest pause between two polls for acknowledgements, in milliseconds. */
  readonly ackPollMs: number;
  readonly client: HttpClient;
  /** Unix ms UTC. */
  readonly now: () => number;
  /** Shows a message to people. */
  readonly tell: (message: string) => void;
}

/**
 * Sends batches to Splunk's HTTP event collector. With indexer acknowledgement, a batch is accepted when all of it is acknowledged.
 * Without it, a batch is accepted when Splunk answers, which is before the events are on disk. A batch that is acknowledged only in part
 * is not accepted.
 */
export function hecSink(options: HecSinkOptions): Sink {
  const { url, token, fields, format, channel, ackDeadlineMs, ackPollMs, client, now, tell } = options;
  const base = `${url.origin}${url.pathname.replace(/\/$/, '')}/services/collector`;
  let warnedOfNoAcks = false;
  const requests = new LineRequests(MAX_CHUNK_BYTES);
  const headers = {
    'content-type': 'application/json',
    'x-splunk-request-channel': channel,
    ...(token === null ? {} : { authorization: `Splunk ${token}` }),
  };

  async function exchange(
    path: string,
    body: Uint8Array,
    signal: AbortSignal,
    more: Readonly<Record<string, string>> = {},
  ): Promise<HttpAnswer> {
    const target = new URL(`${base}${path}`);
    return client.exchange({ method: 'POST', url: target, headers: { ...headers, ...more }, body, signal, ...RECEIVER_LIMITS });
  }

  /** Returns a 2xx; throws DeliveryError for any other answer. */
  function accepted(path: string, answer: HttpAnswer): HttpAnswer {
    if (answer.status < 200 || answer.status > 299) throw hecRefusal(`POST ${base}${path}`, answer, now());
    return answer;
  }

  /** Sends lines, and adds the id of their acknowledgement to `ids`; null: the answer has none. */
  async function sendEvents(lines: Buffer, ids: (number | null)[], signal: AbortSignal): Promise<'too large' | readonly Buffer[]> {
    const events = Buffer.from(Array.from(linesOf(lines), (line) => hecEvent(format, fields, line.toString('utf8'))).join('\n'));
    const answer = options.gzip
      ? await exchange('/event', await gzip(events), signal, { 'content-encoding': 'gzip' })
      : await exchange('/event', events, signal);
    if (answer.status === 413 && hasSeveralLines(lines)) return 'too large';
    ids.push(ackIdIn(accepted('/event', answer)));
    return [];
  }

  async function untilAcknowledged(sent: ReadonlySet<number>, signal: AbortSignal): Promise<void> {
    const awaited = new Set(sent);
    const giveUpAtMs = now() + ackDeadlineMs;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs *= 2) {
      const question = Buffer.from(JSON.stringify({ acks: [...awaited] }));
      const answer = await exchange(`/ack?channel=${encodeURIComponent(channel)}`, question, signal);
      for (const id of acknowledgedIn(accepted('/ack', answer))) awaited.delete(id);
      if (awaited.size === 0) return;
      if (now() >= giveUpAtMs) {
        const overdue = `${awaited.size} of ${sent.size} acknowledgements of the batch did not come within ${ackDeadlineMs / 1_000} s`;
        throw new DeliveryError('unavailable', `${base}: ${overdue}`);
      }
      await sleep(Math.min(pauseMs, ackPollMs), undefined, { signal });
    }
  }

  return {
    name: base,
    async deliver({ bytes }, signal) {
      const ids: (number | null)[] = [];
      await requests.sendAll(bytes, (lines) => sendEvents(lines, ids, signal));
      const awaited = new Set(ids.filter((id) => id !== null));
      // A token acknowledges all requests, each with its own id, or none. Anything else comes from several tokens or machines, which could
      // lose events unnoticed.
      if (awaited.size > 0 && awaited.size < ids.length) {
        const found = `only ${awaited.size} of the batch's ${ids.length} requests have an acknowledgement of their own`;
        const advice = 'behind a load balancer, all of a sender must reach the same Splunk, whose token must be the same everywhere';
        throw new DeliveryError('unavailable', `${base}: ${found}; ${advice}`);
      }
      if (awaited.size > 0) await untilAcknowledged(awaited, signal);
      else if (!warnedOfNoAcks) {
        warnedOfNoAcks = true;
        tell(`${base} acknowledges no indexing: what Splunk has taken counts as delivered; enable indexer acknowledgement for its token`);
      }
      return null;
    },
    close: async () => client.close(),
  };
}

/**
 * Makes one event of Splunk's HTTP event collector: `event` is the line of the feed, a JSON line byte for byte and any other line as a
 * string; `time` is in Unix seconds with milliseconds.
 */
export function hecEvent(format: FeedFormatName, fields: HecFields, line: string): string {
  const timeMs = eventTimeMs(format, line);
  // The time is written digit by digit, because dividing by a thousand may not give the same milliseconds again.
  const time =
    timeMs === null || timeMs < 0 ? '' : `"time":${Math.trunc(timeMs / 1_000)}.${String(Math.trunc(timeMs % 1_000)).padStart(3, '0')},`;
  const named = JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));
  const event = FEED_FORMATS[format].line.kind === 'json' ? line : JSON.stringify(line);
  return `{${time}${named.slice(1, -1)},"event":${event}}`;
}

/** Advice about errors that a person has to correct, by Splunk's code. */
const ADVICE: Readonly<Record<number, string>> = {
  1: 'the token is disabled in Splunk',
  2: 'a token is needed: set SHIELDLOG_SINK_TOKEN',
  3: 'SHIELDLOG_SINK_TOKEN is not a token',
  4: 'SHIELDLOG_SINK_TOKEN is not a token that Splunk knows',
  6: 'Splunk could not read the events',
  7: 'the token may not write to the index; see --hec-index',
  10: 'Splunk wants a channel and saw none; something on the way drops X-Splunk-Request-Channel',
  14: 'indexer acknowledgement is disabled for the token',
};

/** Codes for which a retry may succeed with any status: busy, unhealthy, stopping, full. */
const RETRIABLE: ReadonlySet<number> = new Set([8, 9, 18, 19, 20, 23, 26, 27]);

/** Makes the error for an unexpected answer of the collector, with Splunk's code. */
function hecRefusal(request: string, answer: HttpAnswer, nowMs: number): DeliveryError {
  const plain = refusedAnswer(request, answer, nowMs);
  const { code } = membersIn(answer.body);
  if (typeof code !== 'number') return plain;
  const advice = ADVICE[code] === undefined ? '' : `: ${ADVICE[code]}`;
  const message = `${request} answered ${answer.status}, Splunk's code ${code} "${reasonIn(answer.body)}"${advice}`;
  return new DeliveryError(RETRIABLE.has(code) ? 'unavailable' : plain.code, message, { retryAfterMs: plain.retryAfterMs });
}

/** The id of the acknowledgement; null where indexer acknowledgement is disabled for the token. */
function ackIdIn(answer: HttpAnswer): number | null {
  const { ackId } = membersIn(answer.body);
  const id = typeof ackId === 'string' ? Number(ackId) : ackId;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null;
}

/** The ids that the answer to a poll acknowledges. */
function acknowledgedIn(answer: HttpAnswer): ReadonlySet<number> {
  const { acks } = membersIn(answer.body);
  const entries = typeof acks === 'object' && acks !== null ? Object.entries(acks) : [];
  return new Set(entries.filter(([, done]) => done === true).map(([id]) => Number(id)));
}
