import { HOUR_MS } from '../durations.ts';
import { INT64 } from '../integer-ranges.ts';
import type { JsonObject } from '../json-value.ts';
import type { TimeWindow } from '../plan/search-plan.ts';
import { REACH_HOURS, TOLERANCE_SECONDS } from '../search-limits.ts';
import type { ErrorList } from './request-errors.ts';
import { readInteger } from './wire-readers.ts';

/** The ends of the window of a request, Unix milliseconds UTC; undefined where one could not be read. */
export interface RequestWindow {
  readonly from: bigint | undefined;
  readonly to: bigint | undefined;
}

/** What is wrong with a request without a time that it needs. */
export const TIME_REQUIRED = 'is required: Unix milliseconds, UTC';

/** Reads the required times of a window. */
export function readWindow(fields: JsonObject, errors: ErrorList): RequestWindow {
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const value = fields.get(name);
    if (value !== undefined) return readInteger(value, name, INT64, errors);
    errors.add(name, TIME_REQUIRED);
    return undefined;
  });
  return { from, to };
}

/**
 * The half-open window `[from, to)`, or undefined and an error for each rule that it breaks: `to > from`, `from` not before the reach and
 * the tolerance, `to` not after the tolerance. Compared as 64-bit integers; a window that passes is near `nowMs`, so its numbers are exact.
 */
export function checkWindow({ from, to }: RequestWindow, nowMs: number, errors: ErrorList): TimeWindow | undefined {
  const now = BigInt(Math.floor(nowMs));
  const toleranceMs = BigInt(TOLERANCE_SECONDS * 1000);
  const earliest = now - BigInt(REACH_HOURS * HOUR_MS) - toleranceMs;
  const latest = now + toleranceMs;
  const problems: [field: string, message: string][] = [];
  if (from !== undefined && from < earliest) {
    problems.push(['from', `must be at least ${earliest} (${REACH_HOURS} hours and ${TOLERANCE_SECONDS} seconds ago), not ${from}`]);
  }
  if (to !== undefined && to > latest) {
    problems.push(['to', `must be at most ${latest} (${TOLERANCE_SECONDS} seconds from now), not ${to}`]);
  }
  if (from !== undefined && to !== undefined && to <= from) {
    problems.push(['to', `must be greater than from (${from}), not ${to}`]);
  }
  for (const [field, message] of problems) {
    errors.add(field, message);
  }
  return from === undefined || to === undefined || problems.length > 0 ? undefined : { fromMs: Number(from), toMs: Number(to) };
}
