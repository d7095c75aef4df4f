import { NEWLINE, newlinesIn } from '../../../ingest/event/json-bytes.ts';
import { isLoopbackHost } from '../../config/loopback.ts';
import { type HttpAnswer, type HttpClient, refusedAnswer } from '../../sinks/http-exchange.ts';
import { DeliveryError, type FeedBatch } from '../../sinks/sink.ts';

export interface FeedClientOptions {
  readonly client: HttpClient;
  /** The URL of the program. */
  readonly url: URL;
  /** The zones as the path of the feed has them: `all`, or zone ids with commas between. */
  readonly zone: string;
  readonly accessKey: string | null;
  readonly format: string;
  /** The limit of a page, decompressed. */
  readonly maxAnswerBytes: number;
  /** Unix ms UTC. */
  readonly now: () => number;
}

interface PageRequest {
  /** `now`, or the cursor of an answer; null: the oldest event. */
  readonly cursor: string | null;
  readonly limit: number;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
}

export interface ReadPage {
  readonly kind: 'page';
  readonly batch: FeedBatch;
  readonly cursor: string;
  readonly more: boolean;
  /** The zones that an answer for `all` covers: `all`, or zone ids with commas between. Null where zones were requested by number. */
  readonly zones: string | null;
}

/** Events after the cursor expired before they were read. */
export interface CursorTooOld {
  readonly kind: 'too_old';
  /** The cursor before the oldest event; null where the answer has none. */
  readonly oldest: string | null;
  readonly reason: string;
}

/** The limit of silence beyond `waitSeconds`. */
const SILENCE_MS = 60_000;

/** Parses the last line of an answer; null for any other line. */
function parseEnd(line: string): { readonly cursor: string; readonly more: boolean; readonly count: number } | null {
  try {
    const { cursor, more, count } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof cursor === 'string' && typeof more === 'boolean' && typeof count === 'number') return { cursor, more, count };
  } catch {
    // The answer broke off, or is not of a feed.
  }
  return null;
}

/** Separates the last line from the events. Throws DeliveryError where it is absent or has another count: the answer broke off. */
function parsePage(request: string, { body, headers }: HttpAnswer): ReadPage {
  const zones = headers['shield-zones'];
  const whole = body.at(-1) === NEWLINE ? body.subarray(0, -1) : body;
  const begin = whole.lastIndexOf(NEWLINE) + 1;
  const end = parseEnd(whole.toString('utf8', begin));
  if (end === null) throw new DeliveryError('unavailable', `${request} broke off: its last line is not the cursor`);
  const bytes = body.subarray(0, begin);
  const count = newlinesIn(bytes);
  if (count !== end.count) throw new DeliveryError('unavailable', `${request} has ${count} lines, but its last line says ${end.count}`);
  return { kind: 'page', batch: { bytes, count }, cursor: end.cursor, more: end.more, zones: typeof zones === 'string' ? zones : null };
}

function parseTooOld(body: Buffer): CursorTooOld {
  try {
    const { oldestCursor, detail } = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
    return { kind: 'too_old', oldest: typeof oldestCursor === 'string' ? oldestCursor : null, reason: String(detail ?? '') };
  } catch {
    return { kind: 'too_old', oldest: null, reason: '' };
  }
}

/** Whether the ProblemDetails of a 400 name the cursor. */
function namesCursor(body: Buffer): boolean {
  try {
    const { errors } = JSON.parse(body.toString('utf8')) as { readonly errors?: readonly { readonly field?: unknown }[] };
    return errors?.some(({ field }) => field === 'cursor') === true;
  } catch {
    return false;
  }
}

function foreignCursor(error: DeliveryError): DeliveryError {
  const advice = 'the state is of another program: remove it, or name another with --state';
  return new DeliveryError('refused', `${error.message}; ${advice}`, { cause: error });
}

/** Reads the page after a cursor. The program waits up to `waitSeconds` for the first event. Throws DeliveryError. */
export async function readFeedPage(
  options: FeedClientOptions,
  { cursor, limit, waitSeconds, signal }: PageRequest,
): Promise<ReadPage | CursorTooOld> {
  const { client, url, zone, accessKey, format, maxAnswerBytes, now } = options;
  const target = new URL(`${url.pathname.replace(/\/$/, '')}/shield/event-logs/${zone}/feed`, url);
  const query = { ...(cursor === null ? {} : { cursor }), limit: String(limit), format, wait: String(waitSeconds) };
  target.search = new URLSearchParams(query).toString();
  const headers = {
    accept: 'application/x-ndjson',
    // On loopback, compression costs more than it saves.
    'accept-encoding': isLoopbackHost(url.hostname) ? 'identity' : 'zstd, gzip',
    ...(accessKey === null ? {} : { accesskey: accessKey }),
  };
  const request = `GET ${target.origin}${target.pathname}`;
  const answer = await client.exchange({
    method: 'GET',
    url: target,
    headers,
    signal,
    silenceMs: waitSeconds * 1_000 + SILENCE_MS,
    maxAnswerBytes,
  });
  if (answer.status === 416) return parseTooOld(answer.body);
  if (answer.status === 400 && cursor !== null && namesCursor(answer.body)) throw foreignCursor(refusedAnswer(request, answer, now()));
  if (answer.status !== 200) throw refusedAnswer(request, answer, now());
  return parsePage(request, answer);
}
