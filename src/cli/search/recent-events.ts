import { MAX_PER_ANSWER, TOLERANCE_SECONDS } from '../../../query/search-limits.ts';
import type { LineSearch } from '../../../query/search-line.ts';
import { RETRY_TIMES, untilDone } from '../../sinks/feed-retry.ts';
import type { AskedProgram } from '../program-requests.ts';
import { explorePage } from './explored-page.ts';
import { recordOf } from './output-columns.ts';

/** The most events that a tail shows of the past. */
export const MAX_RECENT_EVENTS = 10_000;

/** No further page is read once the events have so many characters. */
export const MAX_RECENT_LENGTH = 32 * 1024 * 1024;

/** The window ends so much after now: an event has the time of another clock, which may be ahead of the one of this machine. */
const AHEAD_MS = (TOLERANCE_SECONDS * 1_000) / 2;

export interface RecentOptions {
  readonly program: AskedProgram;
  readonly conditions: Pick<LineSearch, 'query' | 'filters' | 'exclude'>;
  readonly lastMs: number;
  /** The most events that are wanted. */
  readonly limit: number;
  /** Shows a message to people. */
  readonly tell: (message: string) => void;
  readonly signal: AbortSignal;
}

/** The newest events of a time before now. */
export interface RecentEvents {
  /** JSON by `eventKey`, the oldest first. */
  readonly events: ReadonlyMap<string, string>;
  /** How many older ones there are. */
  readonly older: number;
}

/** What tells an event, given as JSON, from all others: its zone, time and id. Throws SyntaxError. */
export function eventKey(json: string): string {
  const record = recordOf(json, []);
  return `${record.get('shieldZoneId')} ${record.get('timestamp')} ${JSON.parse(record.get('logId') ?? 'null')}`;
}

/**
 * Finds the newest events of the last `lastMs` that a search finds now. Asks again where the program cannot be reached or is busy; throws
 * the other errors of `explorePage`, and the signal's reason.
 */
export async function recentEvents({ program, conditions, lastMs, limit, tell, signal }: RecentOptions): Promise<RecentEvents> {
  const nowMs = Date.now();
  const { query, filters, exclude } = conditions;
  const wanted = Math.min(limit, MAX_RECENT_EVENTS);
  const pageSize = Math.min(wanted, MAX_PER_ANSWER);
  const body = { from: nowMs - lastMs, to: nowMs + AHEAD_MS, query, filters, exclude, pageSize };
  const retry = { ...RETRY_TIMES, stopping: signal, tell };
  // An event that comes into the window meanwhile moves others to the next page, where they are found once more.
  const found = new Map<string, string>();
  let length = 0;
  for (let page = 0; ; page += 1) {
    const { records, total } = await untilDone(() => explorePage(program, { ...body, page }, signal), retry);
    for (const record of records.slice(0, wanted - found.size)) found.set(eventKey(record), record);
    length += records.reduce((sum, record) => sum + record.length, 0);
    if (records.length < pageSize || found.size >= wanted || length > MAX_RECENT_LENGTH) {
      return { events: new Map([...found].reverse()), older: Math.max(0, total - found.size) };
    }
  }
}
