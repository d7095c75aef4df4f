import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { eventIdIn, eventTimeMs, FEED_FORMATS, type FeedFormatName } from '../formats/feed-formats.ts';
import {
  type HttpAnswer,
  type HttpClient,
  membersIn,
  RECEIVER_LIMITS,
  type ReceiverLimits,
  reasonIn,
  refusedAnswer,
  STATUS_LIMITS,
} from './http-exchange.ts';
import { inHalves, LineRequests } from './line-requests.ts';
import { readAnswer, SET_ASIDE_ADVICE } from './receiver-answers.ts';
import { type AnswerReading, DeliveryError, linesOf, type RefusedEvent, type Sink } from './sink.ts';

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

export interface HecSinkOptions extends AnswerReading {
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
  const { url, token, fields, format, channel, ackDeadlineMs, ackPollMs, client, now, tell, acceptAny, setsAside } = options;
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
    encoding = {},
    limits: ReceiverLimits = RECEIVER_LIMITS,
  ): Promise<HttpAnswer> {
    const target = new URL(`${base}${path}`);
    return client.exchange({ method: 'POST', url: target, headers: { ...headers, ...encoding }, body, signal, ...limits });
  }

  /** What is known of a batch whose requests are being sent. */
  interface SentBatch {
    /** The id of the acknowledgement of each request; null: its answer has none. */
    readonly ids: (number | null)[];
    readonly refused: RefusedEvent[];
    expired: number;
  }

  /**
   * Sets aside the event for which a request was refused, and returns the others, to be sent next. Throws where no event is named, or
   * refused ones end the feed.
   */
  function withoutRefused(lines: Buffer, sent: readonly Buffer[], answer: HttpAnswer, refusal: DeliveryError, batch: SentBatch): Buffer[] {
    const number = refusedEvent(answer, sent.length);
    const line = sent[number ?? -1];
    if (line === undefined) throw refusal;
    const id = eventIdIn(format, line.toString('utf8'));
    const named = answer.status === 413 ? 'number' : 'invalid-event-number';
    const reason = `${refusal.message}; it is ${named} ${number} of ${sent.length} events, ${id ?? 'which has no id'}`;
    if (!setsAside) throw new DeliveryError(refusal.code, `${reason}; ${SET_ASIDE_ADVICE}`, { cause: refusal });
    batch.refused.push({ line, reason });
    const begin = line.byteOffset - lines.byteOffset;
    // In halves: where every event is refused, the rest would otherwise be sent as a whole for each of them.
    return [lines.subarray(0, begin), ...inHalves(lines.subarray(begin + line.length + 1))].filter(({ length }) => length > 0);
  }

  async function sendEvents(lines: Buffer, batch: SentBatch, signal: AbortSignal): Promise<'too large' | readonly Buffer[]> {
    const request = `POST ${base}/event`;
    const sent = [...linesOf(lines)];
    const events = Buffer.from(sent.map((line) => hecEvent(format, fields, line.toString('utf8'))).join('\n'));
    const body = options.gzip ? await gzip(events) : events;
    const encoding = options.gzip ? { 'content-encoding': 'gzip' } : {};
    const answer = await exchange('/event', body, signal, encoding, acceptAny ? STATUS_LIMITS : RECEIVER_LIMITS);
    if (answer.status === 413 && sent.length > 1) return 'too large';
    const refusal = hecRefusal(request, answer, acceptAny, now());
    if (refusal !== null) return withoutRefused(lines, sent, answer, refusal, batch);
    batch.ids.push(ackIdIn(answer));
    if (acceptAny) return [];
    const { refused, expired } = readAnswer({ request, answer, lines, setsAside, nowMs: now() });
    batch.refused.push(...refused);
    batch.expired += expired;
    return [];
  }

  async function untilAcknowledged(sent: ReadonlySet<number>, signal: AbortSignal): Promise<void> {
    const awaited = new Set(sent);
    // Not of the clock, which may be set back meanwhile.
    const giveUpAtMs = performance.now() + ackDeadlineMs;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs *= 2) {
      const question = Buffer.from(JSON.stringify({ acks: [...awaited] }));
      const answer = await exchange(`/ack?channel=${encodeURIComponent(channel)}`, question, signal);
      const refusal = hecRefusal(`POST ${base}/ack`, answer, false, now());
      if (refusal !== null) throw refusal;
      for (const id of acknowledgedIn(answer)) awaited.delete(id);
      if (awaited.size === 0) return;
      if (performance.now() >= giveUpAtMs) {
        const overdue = `${awaited.size} of ${sent.size} acknowledgements of the batch did not come within ${ackDeadlineMs / 1_000} s`;
        throw new DeliveryError('unavailable', `${base}: ${overdue}`);
      }
      await sleep(Math.min(pauseMs, ackPollMs), undefined, { signal });
    }
  }

  return {
    name: base,
    async deliver({ bytes }, signal) {
      const batch: SentBatch = { ids: [], refused: [], expired: 0 };
      await requests.sendAll(bytes, (lines) => sendEvents(lines, batch, signal));
      const { ids, refused, expired } = batch;
      const awaited = new Set(ids.filter((id) => id !== null));
      // A token acknowledges all requests, each with its own id, or none. Anything else comes from several tokens or machines, which could
      // lose events unnoticed.
      if (awaited.size > 0 && awaited.size < ids.length) {
        const found = `only ${awaited.size} of the batch's ${ids.length} requests have an acknowledgement of their own`;
        const advice = 'behind a load balancer, all of a sender must reach the same Splunk, whose token must be the same everywhere';
        throw new DeliveryError('unavailable', `${base}: ${found}; ${advice}`);
      }
      if (awaited.size > 0) await untilAcknowledged(awaited, signal);
      else if (ids.length > 0 && !warnedOfNoAcks) {
        warnedOfNoAcks = true;
        tell(`${base} acknowledges no indexing: what Splunk has taken counts as delivered; enable indexer acknowledgement for its token`);
      }
      return { position: null, refused, expired };
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
  12: 'an event is absent',
  13: 'an event is blank',
  14: 'indexer acknowledgement is disabled for the token',
};

/** Codes for which a retry may succeed with any status: busy, unhealthy, stopping, full. */
const RETRIABLE: ReadonlySet<number> = new Set([8, 9, 18, 19, 20, 23, 26, 27]);

/**
 * Makes the error for an answer by which the collector did not take a request, with Splunk's code; null where it took it. A 2xx with
 * another code than 0 means what that code means with 400, unless the status is enough.
 */
function hecRefusal(request: string, answer: HttpAnswer, isStatusEnough: boolean, nowMs: number): DeliveryError | null {
  const { code } = membersIn(answer.body);
  const hasCode = typeof code === 'number';
  const isTaken = answer.status >= 200 && answer.status <= 299;
  if (isTaken && (isStatusEnough || !hasCode || code === 0)) return null;
  const plain = refusedAnswer(request, answer, nowMs);
  if (!hasCode) return plain;
  const advice = ADVICE[code] === undefined ? '' : `: ${ADVICE[code]}`;
  const message = `${request} answered ${answer.status}, Splunk's code ${code} "${reasonIn(answer.body)}"${advice}`;
  return new DeliveryError(RETRIABLE.has(code) ? 'unavailable' : plain.code, message, { retryAfterMs: plain.retryAfterMs });
}

/** Codes of a request that is refused because of one event: its data or index is wrong, or it is absent or blank. */
const OF_ONE_EVENT: ReadonlySet<unknown> = new Set([6, 7, 12, 13]);

/** The index of the event for which a request of so many events was refused; null where that is not known. */
function refusedEvent(answer: HttpAnswer, events: number): number | null {
  const { code, 'invalid-event-number': number } = membersIn(answer.body);
  if (answer.status === 413 && events === 1) return 0;
  return OF_ONE_EVENT.has(code) && typeof number === 'number' && Number.isInteger(number) && number >= 0 && number < events ? number : null;
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
