import { DAY_MS, MINUTE_MS } from '../../query/durations.ts';
import type { ExplorerState } from '../state/explorer-state.ts';

type Clock = ExplorerState['clock'];

/** How far a clock is ahead of UTC at a time, in milliseconds. */
export function aheadOfUtc(ms: number, clock: Clock): number {
  return clock === 'utc' ? 0 : -new Date(ms).getTimezoneOffset() * MINUTE_MS;
}

/** What a clock shows at a time, as an ISO text that ends with `Z` whatever the clock: `2026-11-24T13:05:59.123Z`. */
export function shownByClock(ms: number, clock: Clock): string {
  return new Date(ms + aheadOfUtc(ms, clock)).toISOString();
}

/** ` +02:00` for a time that the clock shows twice, because it is put back; else empty. */
export function offsetText(ms: number, clock: Clock): string {
  const ahead = aheadOfUtc(ms, clock);
  const isTwice = [ms - DAY_MS, ms + DAY_MS].some((beside) => {
    const other = ms + ahead - aheadOfUtc(beside, clock);
    return other !== ms && other + aheadOfUtc(other, clock) === ms + ahead;
  });
  return isTwice ? ` ${zoneOffset(ms, clock)}` : '';
}

/** `+02:00`: how far the clock is ahead of UTC. */
export function zoneOffset(ms: number, clock: Clock): string {
  const ahead = aheadOfUtc(ms, clock);
  const minutes = Math.abs(ahead) / MINUTE_MS;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${ahead < 0 ? '-' : '+'}${hours}:${rest}`;
}
