import { askExplorer, type QuestionBody, type Window } from '../api/explore.ts';
import { type ParsedRow, rowKey } from '../api/parsed-row.ts';
import { REACH_MS } from '../state/time-range.ts';

/** Events of one address around one of them, newest first, that one included. */
export interface Surroundings {
  readonly rows: readonly ParsedRow[];
  /** Whether there are more beyond either end. */
  readonly moreNewer: boolean;
  readonly moreOlder: boolean;
}

/** Events on each side. */
export const EACH_SIDE = 10;

/**
 * A size of pages with which the last page of `total` items has at least `wanted` of them, or all. Searches answer the newest first; the
 * nearest after an event are the last of all that are newer.
 */
export function pageSizeForEnd(total: number, wanted: number): number {
  if (total <= wanted) return wanted;
  for (let size = wanted; ; size += 1) {
    if (total % size === 0 || total % size >= wanted) return size;
  }
}

/** What can be searched after an event and before it, at the time `now`. Null where all before it is beyond the reach of searches. */
export function windowsAround(timestamp: number, now: number): { readonly after: Window; readonly before: Window | null } {
  const earliest = now - REACH_MS;
  return {
    after: { from: Math.max(earliest, timestamp), to: Math.max(now, timestamp + 1) },
    before: earliest < timestamp ? { from: earliest, to: timestamp } : null,
  };
}

/** Asks for the events of the row's address in its zone, before and after it. Throws RequestFailed. */
export async function surroundingsOf(row: ParsedRow, ip: string, now: number, signal: AbortSignal): Promise<Surroundings> {
  const zone = String(row.shieldZoneId);
  const conditions = { query: '', filters: [{ field: 'ip', op: 'eq', value: [ip] }], exclude: [] } as const;
  const ask = (rest: Pick<QuestionBody, 'from' | 'to' | 'pageSize' | 'page'>) => askExplorer(zone, { ...conditions, ...rest }, signal);
  const { after, before } = windowsAround(row.timestamp, now);
  const none = { rows: [], total: 0 };
  const [counted, older] = await Promise.all([
    ask({ ...after, pageSize: 0 }),
    before === null ? none : ask({ ...before, pageSize: EACH_SIDE, page: 0 }),
  ]);
  // Those of the same time stand on both sides of the event, in the order of their ids.
  const pageSize = pageSizeForEnd(counted.total, 2 * EACH_SIDE);
  const newer = await ask({ ...after, pageSize, page: Math.max(0, Math.ceil(counted.total / pageSize) - 1) });
  return around(row, newer.rows ?? [], older.rows ?? [], { newer: counted.total, older: older.total });
}

interface Totals {
  readonly newer: number;
  readonly older: number;
}

/** Cuts the rows down to those nearest to the event. */
export function around(row: ParsedRow, newer: readonly ParsedRow[], older: readonly ParsedRow[], totals: Totals): Surroundings {
  const key = rowKey(row);
  const all = [...newer, ...older];
  const at = all.findIndex((other) => rowKey(other) === key);
  // An event that came from the live tail may not be among those of a moment before.
  const list = at === -1 ? [...newer, row, ...older] : all;
  const place = at === -1 ? newer.length : at;
  const first = Math.max(0, place - EACH_SIDE);
  const end = Math.min(list.length, place + 1 + EACH_SIDE);
  return {
    rows: list.slice(first, end),
    moreNewer: first > 0 || totals.newer > newer.length,
    moreOlder: end < list.length || totals.older > older.length,
  };
}
