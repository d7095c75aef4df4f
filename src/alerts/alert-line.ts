import type { FoldNews } from '../../alerts/alert-book.ts';
import type { AlertRule } from '../../alerts/rule.ts';

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** An alert that was told or resolved, as JSON for people; null for a hit. Times are ISO 8601 in UTC. */
export function alertLine(news: FoldNews, { name, by, severity, labels, receivers }: AlertRule) {
  if (news.kind === 'hit') return null;
  const { id, group, fromMs, toMs, hits, toldAtMs, resolvedAtMs } = news.alert;
  const values: Readonly<Record<string, string>> = Object.fromEntries(by.map((dimension, nth) => [dimension, group[nth]?.text ?? '']));
  const window = { from: timeOf(fromMs), to: timeOf(toMs) };
  const at = { toldAt: timeOf(toldAtMs), resolvedAt: timeOf(news.kind === 'told' ? null : resolvedAtMs) };
  return { state: news.kind, id, rule: name, severity, group: values, ...window, hits, ...at, labels, receivers };
}
