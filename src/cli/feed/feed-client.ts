import { NEWLINE, newlinesIn } from '../../../query/json-bytes.ts';
import type { LongLines } from '../../feed/line-limit.ts';
import { type HttpAnswer, membersIn, refusedAnswer } from '../../sinks/http-exchange.ts';
import { DeliveryError, type FeedBatch } from '../../sinks/sink.ts';
import { type AskedProgram, problemIn, questionTo, zonesPath } from '../program-requests.ts';
import type { FeedOptions } from './feed-options.ts';

export interface FeedClientOptions extends AskedProgram, Pick<FeedOptions, 'format' | 'part' | 'maxLine'> {
  /** The conditions of the events, as JSON; null: all of them. */
  readonly search: string | null;
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
  /** The most events that belong into the page and cannot be read. */
  readonly incomplete: number;
  /** How many events have lines longer than `maxLine` (`LongLines`). */
  readonly longLines: LongLines;
  /** The zones that an answer for `all` covers: `all`, or zone ids with commas between. Null where zones were requested by number. */
  readonly zones: string | null;
}

/** The feed does not go on at the cursor, but at another one. */
export interface CursorMoved {
  /** `expired`: events after the cursor expired before they were read. `ahead`: the program does not have all that the reader has. */
  readonly kind: 'expired' | 'ahead';
  /** The cursor to go on with; null where the answer has none. */
  readonly goesOnWith: string | null;
  readonly reason: string;
}

/** The limit of silence beyond `waitSeconds`. */
const SILENCE_MS = 60_000;

/** Parses the last line of an answer; null where the answer broke off, or is not of a feed. */
function parseEnd(line: Buffer): (Pick<ReadPage, 'cursor' | 'more' | 'incomplete' | 'longLines'> & { readonly count: number }) | null {
  const { cursor, more, count, incomplete = 0, shortened = 0, tooLong = 0 } = membersIn(line);
  const isEnd = typeof cursor === 'string' && typeof more === 'boolean' && typeof count === 'number';
  const longLines = { shortened: Number(shortened), tooLong: Number(tooLong) };
  return isEnd ? { cursor, more, count, incomplete: Number(incomplete), longLines } : null;
}

/** Separates the last line from the events. Throws DeliveryError where it is absent or has another count: the answer broke off. */
function parsePage(request: string, { body, headers }: HttpAnswer): ReadPage {
  const zones = headers['shield-zones'];
  const whole = body.at(-1) === NEWLINE ? body.subarray(0, -1) : body;
  const begin = whole.lastIndexOf(NEWLINE) + 1;
  const end = parseEnd(whole.subarray(begin));
  if (end === null) throw new DeliveryError('unavailable', `${request} broke off: its last line is not the cursor`);
  const bytes = body.subarray(0, begin);
  const count = newlinesIn(bytes);
  if (count !== end.count) throw new DeliveryError('unavailable', `${request} has ${count} lines, but its last line says ${end.count}`);
  const { cursor, more, incomplete, longLines } = end;
  return { kind: 'page', batch: { bytes, count }, cursor, more, incomplete, longLines, zones: typeof zones === 'string' ? zones : null };
}

function foreignCursor(error: DeliveryError): DeliveryError {
  const advice = 'the state is of another program: remove it, or name another with --state';
  return new DeliveryError('refused', `${error.message}; ${advice}`, { cause: error });
}

/** Reads the page after a cursor. The program waits up to `waitSeconds` for the first event. Throws DeliveryError. */
export async function readFeedPage(
  options: FeedClientOptions,
  { cursor, limit, waitSeconds, signal }: PageRequest,
): Promise<ReadPage | CursorMoved> {
  const { client, format, part, search, maxLine, maxAnswerBytes, now } = options;
  const optional = { cursor, part, search, maxLine: maxLine === null ? null : String(maxLine) };
  const given = Object.entries(optional).filter((entry): entry is [string, string] => entry[1] !== null);
  const query = { ...Object.fromEntries(given), limit: String(limit), format, wait: String(waitSeconds) };
  const { url, headers } = questionTo(options, { path: zonesPath(options, 'feed'), query, accept: 'application/x-ndjson' });
  const request = `GET ${url.origin}${url.pathname}`;
  const answer = await client.exchange({
    method: 'GET',
    url,
    headers,
    signal,
    silenceMs: waitSeconds * 1_000 + SILENCE_MS,
    maxAnswerBytes,
  });
  if (answer.status === 200) return parsePage(request, answer);
  const { errors, oldestCursor, isAhead } = problemIn(answer.body);
  if (answer.status === 416) {
    const reason = String(membersIn(answer.body)['detail'] ?? '');
    return { kind: isAhead ? 'ahead' : 'expired', goesOnWith: oldestCursor, reason };
  }
  if (answer.status === 400 && cursor !== null && errors.some(({ field }) => field === 'cursor'))
    throw foreignCursor(refusedAnswer(request, answer, now()));
  throw refusedAnswer(request, answer, now());
}
