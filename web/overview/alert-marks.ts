import { alertList, type ListedAlert } from '../api/alerts.ts';
import type { Window } from '../api/explore.ts';
import type { Question } from '../state/question.ts';

/** So many of the last alerts are looked through. */
const LAST_ALERTS = 1_000;

/** The alerts about zones of a question that were told of its time, the newest first. Throws RequestFailed. */
export async function alertsOf({ zones, body }: Question, signal: AbortSignal): Promise<readonly ListedAlert[]> {
  const { alerts } = await alertList(LAST_ALERTS, signal);
  const asked = zones === 'all' ? null : new Set(zones.split(',').map(Number));
  return alerts.filter((alert) => {
    return overlaps(alert, body) && (asked === null || alert.zones === 'all' || alert.zones.some((zone) => asked.has(zone)));
  });
}

function overlaps(one: Window, other: Window): boolean {
  return one.from < other.to && one.to > other.from;
}

/** `; alerts: scanner, one-rule-gone-wild` for those of a stretch of time, each rule once; empty where there is none. */
export function alertWords(alerts: readonly ListedAlert[], stretch: Window): string {
  const rules = new Set(alerts.filter((alert) => overlaps(alert, stretch)).map(({ rule }) => rule));
  return rules.size === 0 ? '' : `; alerts: ${[...rules].join(', ')}`;
}
