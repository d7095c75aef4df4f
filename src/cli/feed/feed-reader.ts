import { isLoopbackHost } from '../../config/loopback.ts';
import { DeliveryError } from '../../sinks/delivery-error.ts';
import type { HttpAnswer, HttpClient } from '../../sinks/http-exchange.ts';
import { refusedAnswer } from '../../sinks/refused-answer.ts';
import type { FeedBatch } from '../../sinks/sink.ts';

export interface FeedReaderOptions {
  readonly client: HttpClient;
  /** The running program. */
  readonly url: URL;
  /** The zone place of the path. */
  readonly zone: string;
  readonly accessKey: string | null;
  readonly format: string;
  /** How long a page may be. */
  readonly largestBytes: number;
  /** Unix ms UTC. */
  readonly now: () => number;
}

export interface PageRequest {
  /** Null: from the beginning. */
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
  /** `all` or zone ids with commas between: what the answer covers; null where it does not say, because they were asked for by number. */
  readonly zones: string | null;
}

/** The retention has dropped events behind the cursor before they were read. */
export interface CursorTooOld {
  readonly kind: 'too_old';
  /** Null where the answer names none: then from the beginning. */
  readonly oldest: string | null;
  readonly reason: string;
}

/** Beyond the time that the program was asked to wait for events. */
const SILENCE_MS = 60_000;
const NEWLINE = 0x0a;

/** The feed's last line; null where it is something else. */
function endIn(line: string): { readonly cursor: string; readonly more: boolean; readonly count: number } | null {
  try {
    const { cursor, more, count } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof cursor === 'string' && typeof more === 'boolean' && typeof count === 'number') return { cursor, more, count };
  } catch {
    // Cut off, or not a feed.
  }
  return null;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** A page with its last line taken off. Throws DeliveryError where that line is missing or does not fit: the answer broke off. */
function pageIn(place: string, { body, headers }: HttpAnswer): ReadPage {
  const zones = headers['shield-zones'];
  const whole = body.at(-1) === NEWLINE ? body.subarray(0, -1) : body;
  const begin = whole.lastIndexOf(NEWLINE) + 1;
  const end = endIn(whole.toString('utf8', begin));
  if (end === null) throw new DeliveryError('unavailable', `${place} broke off: its last line is not the cursor`);
  const bytes = body.subarray(0, begin);
  const count = countLines(bytes);
  if (count !== end.count) throw new DeliveryError('unavailable', `${place} has ${count} lines, but its last line says ${end.count}`);
  return { kind: 'page', batch: { bytes, count }, cursor: end.cursor, more: end.more, zones: typeof zones === 'string' ? zones : null };
}

function tooOldIn(body: Buffer): CursorTooOld {
  try {
    const { oldestCursor, detail } = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
    return { kind: 'too_old', oldest: typeof oldestCursor === 'string' ? oldestCursor : null, reason: String(detail ?? '') };
  } catch {
    return { kind: 'too_old', oldest: null, reason: '' };
  }
}

/** Whether the ProblemDetails of a 400 say that the cursor is what is wrong. */
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

/**
 * Reads the page after a cursor. Where there is nothing new the program waits `waitSeconds` for something. Throws DeliveryError.
 */
export async function readFeedPage(
  options: FeedReaderOptions,
  { cursor, limit, waitSeconds, signal }: PageRequest,
): Promise<ReadPage | CursorTooOld> {
  const { client, url, zone, accessKey, format, largestBytes, now } = options;
  const target = new URL(`${url.pathname.replace(/\/$/, '')}/shield/event-logs/${zone}/feed`, url);
  const query = { ...(cursor === null ? {} : { cursor }), limit: String(limit), format, wait: String(waitSeconds) };
  target.search = new URLSearchParams(query).toString();
  const headers = {
    accept: 'application/x-ndjson',
    // On one machine, compressing costs more than it saves.
    'accept-encoding': isLoopbackHost(url.hostname) ? 'identity' : 'zstd, gzip',
    ...(accessKey === null ? {} : { accesskey: accessKey }),
  };
  const place = `GET ${target.origin}${target.pathname}`;
  const answer = await client.exchange({
    method: 'GET',
    url: target,
    headers,
    signal,
    silenceMs: waitSeconds * 1_000 + SILENCE_MS,
    largestBytes,
  });
  if (answer.status === 416) return tooOldIn(answer.body);
  if (answer.status === 400 && cursor !== null && namesCursor(answer.body)) throw foreignCursor(refusedAnswer(place, answer, now()));
  if (answer.status !== 200) throw refusedAnswer(place, answer, now());
  return pageIn(place, answer);
}
