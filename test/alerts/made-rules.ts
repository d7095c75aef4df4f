import type { FoldNews } from '../../alerts/alert-book.ts';
import type { CountedEvent } from '../../alerts/alert-group.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';

export const BEGIN = Date.UTC(2026, 4, 12, 12);
export const RETENTION_MS = 3 * DAY_MS;

export function ruleWith(more: Partial<AlertRule> = {}): AlertRule {
  return {
    name: 'a-rule',
    zones: 'all',
    search: { query: '', filters: [], exclude: [] },
    where: { kind: 'everything' },
    by: ['country'],
    kind: { kind: 'count', atLeast: 3 },
    windowMs: 10 * MINUTE_MS,
    quietMs: 30 * MINUTE_MS,
    hold: 1,
    lateMs: DAY_MS,
    maxGroups: 5_000,
    maxAgeMs: HOUR_MS,
    severity: 'medium',
    labels: {},
    receivers: [],
    ...more,
  };
}

/** An event at so many milliseconds after the begin, taken in at once, or so much later. */
export function eventAt(ms: number, fields: CountedEvent['fields'] = {}, lateMs = 0): CountedEvent {
  return { zoneId: 7, timestamp: BEGIN + ms, ingestedAtMs: BEGIN + ms + lateMs, fields };
}

/** The kinds of news with the whole minutes after the begin at which they came, and of hits at which their window begins. */
export function brief(news: readonly FoldNews[]): string[] {
  const minute = (ms: number | null) => Math.floor((Number(ms) - BEGIN) / MINUTE_MS);
  return news.map((one) => {
    if (one.kind === 'hit') return `hit ${minute(one.windowMs)}`;
    return one.kind === 'told' ? `told ${minute(one.alert.toldAtMs)}` : `resolved ${minute(one.alert.resolvedAtMs)}`;
  });
}
