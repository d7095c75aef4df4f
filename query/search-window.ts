import type { ErrorList } from './error-list.ts';
import type { TimeWindow } from './search-plan.ts';

/** How far back a search may reach; events are kept as long. */
export const REACH_MS = 72n * 3_600_000n;

/** How far the caller's clock and ours may be apart. */
export const TOLERANCE_MS = 60_000n;

/**
 * The half-open window `[from, to)`: `to > from`, `from` not before 72 h and 60 s ago, `to` not after 60 s from now. What breaks a rule is
 * added to the errors and undefined comes back. Judged in 64-bit integers; what passes lies near `nowMs` and is an exact number.
 */
export function searchWindow(from: bigint | undefined, to: bigint | undefined, nowMs: number, errors: ErrorList): TimeWindow | undefined {
  const now = BigInt(Math.floor(nowMs));
  const [earliest, latest] = [now - REACH_MS - TOLERANCE_MS, now + TOLERANCE_MS];
  const problems: [field: string, message: string][] = [];
  if (from !== undefined && from < earliest) {
    problems.push(['from', `must be at least ${earliest} (72 hours and 60 seconds ago), not ${from}`]);
  }
  if (to !== undefined && to > latest) {
    problems.push(['to', `must be at most ${latest} (60 seconds from now), not ${to}`]);
  }
  if (from !== undefined && to !== undefined && to <= from) {
    problems.push(['to', `must be greater than from (${from}), not ${to}`]);
  }
  for (const [field, message] of problems) {
    errors.add(field, message);
  }
  return from === undefined || to === undefined || problems.length > 0 ? undefined : { fromMs: Number(from), toMs: Number(to) };
}
