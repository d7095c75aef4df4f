import type { FoldNews } from '../../alerts/alert-book.ts';
import { EntryBudget } from '../../alerts/entry-budget.ts';
import { type AlertRule, readBackMs, versionOf } from '../../alerts/rule.ts';
import { RuleFold } from '../../alerts/rule-fold.ts';
import { RuleSet } from '../../alerts/rule-set.ts';
import { matchSubject } from '../../query/match/match-event.ts';
import type { EventStore, FeedPage } from '../../store/event-store.ts';
import { readFields } from '../../store/feed-event.ts';
import { isoTime } from './told-alerts.ts';

/** What a backtest keeps beside what the rules that are followed have: windows of groups, their bytes, and alerts. */
export const BACKTEST_LIMITS = { entries: 100_000, bytes: 16 * 1024 * 1024, maxAlerts: 10_000 } as const;

/** The longest file of a rule, in bytes, and its types. */
export const RULE_BYTES = 64 * 1024;
export const RULE_TYPES = ['application/yaml', 'text/yaml'] as const;

const PAGE_EVENTS = 4_096;

/** What a backtest tells while it goes on; the summary comes last. */
export type BacktestLine =
  | { readonly kind: 'alert'; readonly alert: NonNullable<ReturnType<typeof alertLine>> }
  /** Some of the events were looked at: those that were taken in before a time, Unix ms UTC. */
  | { readonly kind: 'progress'; readonly lookedAt: number; readonly completeTo: number }
  | {
      readonly kind: 'summary';
      readonly rule: string;
      readonly version: string;
      /** The intake times from which and up to which events were read, Unix ms UTC. */
      readonly readFrom: number;
      readonly readTo: number;
      readonly lookedAt: number;
      /** The events that the rule is about. */
      readonly counted: number;
      readonly hits: number;
      readonly told: number;
      /** Hits that belong to an alert that was there already, because they came within `quiet`. */
      readonly heldBack: number;
      readonly tooLate: number;
      readonly bounded: number;
      /** At most so many events cannot be read. */
      readonly unreadable: number;
    };

interface BacktestOptions {
  readonly rule: AlertRule;
  readonly reads: Pick<EventStore, 'readFeed'>;
  readonly positions: EventStore['positions'];
  readonly retentionMs: number;
  /** The intake time at which the rule is taken to begin, Unix ms UTC. What it reads back is read, too. */
  readonly fromMs: number;
  /** It ends once all that was taken in by then is read, Unix ms UTC. */
  readonly toMs: number;
  readonly signal: AbortSignal;
}

/**
 * Folds the stored events in the order in which they were taken in, as the program does that follows the rule, and delivers nothing. Yields
 * a piece for each page, which is folded while the piece is read: null comes after each event, so that others have their turns in between.
 * Throws as `readFeed` does.
 */
export async function* backtest(options: BacktestOptions): AsyncGenerator<Iterable<BacktestLine | null>, void> {
  const { rule, reads, positions, retentionMs, fromMs, toMs, signal } = options;
  const { maxAlerts, ...most } = BACKTEST_LIMITS;
  const fold = new RuleFold(rule, { retentionMs, begunAtMs: fromMs, maxAlerts, budget: new EntryBudget(most) });
  const rules = new RuleSet([rule]);
  const sums = { lookedAt: 0, counted: 0, hits: 0, told: 0, heldBack: 0, unreadable: 0 };

  function* alertsIn(news: readonly FoldNews[]): Generator<BacktestLine, void> {
    for (const one of news) {
      if (one.kind === 'told') sums.told += 1;
      if (one.kind === 'hit') sums.hits += 1;
      if (one.kind === 'hit' && one.alert.hits > 1) sums.heldBack += 1;
      const alert = alertLine(one, rule);
      if (alert !== null) yield { kind: 'alert', alert };
    }
  }

  function* folded({ lines, lookedAt, unreadable, completeToMs: completeTo }: FeedPage): Generator<BacktestLine | null, void> {
    sums.lookedAt += lookedAt;
    sums.unreadable += unreadable;
    for (const line of lines) {
      const event = readFields(line);
      const subject = matchSubject(event.fields);
      if (rules.matching(event.zoneId, subject).length > 0) {
        sums.counted += 1;
        yield* alertsIn(fold.count(event, subject));
      }
      yield null;
    }
    yield* alertsIn(fold.completeTo(completeTo));
    yield { kind: 'progress', lookedAt: sums.lookedAt, completeTo };
  }

  const readFrom = fromMs - readBackMs(rule, retentionMs);
  let after = await positions.at(readFrom);
  for (let page: FeedPage | undefined; page === undefined || (page.more && page.completeToMs <= toMs); after = page.end) {
    page = await reads.readFeed({ ...rules.wanted, logs: false, after, limit: PAGE_EVENTS }, { signal });
    yield folded(page);
  }
  const { timeMs: readTo, tooLate, bounded } = fold.facts;
  yield [{ kind: 'summary', rule: rule.name, version: versionOf(rule), readFrom, readTo, ...sums, tooLate, bounded }];
}

/** An alert that was told or resolved, as JSON for people; null for a hit. Times are ISO 8601 in UTC. */
export function alertLine({ kind, alert }: FoldNews, { name, by, severity, labels, receivers }: AlertRule) {
  if (kind === 'hit') return null;
  const { id, group, hits, fromMs, toMs, toldAtMs } = alert;
  return {
    state: kind,
    id,
    rule: name,
    severity,
    group: Object.fromEntries(by.map((dimension, nth) => [dimension, group[nth]?.text ?? ''])) as Readonly<Record<string, string>>,
    from: isoTime(fromMs),
    to: isoTime(toMs),
    hits,
    toldAt: isoTime(toldAtMs),
    resolvedAt: isoTime(kind === 'told' ? null : alert.resolvedAtMs),
    labels,
    receivers,
  };
}
