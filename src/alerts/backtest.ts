import type { FoldNews } from '../../alerts/alert-book.ts';
import { EntryBudget } from '../../alerts/entry-budget.ts';
import { type AlertRule, readBackMs, versionOf } from '../../alerts/rule.ts';
import { RuleFold } from '../../alerts/rule-fold.ts';
import { RuleSet } from '../../alerts/rule-set.ts';
import { matchSubject } from '../../query/match/match-event.ts';
import type { EventStore, FeedLine, FeedPage } from '../../store/event-store.ts';
import { readFields } from '../../store/feed-event.ts';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { alertLine } from './alert-line.ts';

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

export interface BacktestOptions {
  readonly rule: AlertRule;
  readonly reads: Pick<EventStore, 'readFeed'>;
  readonly positions: EventStore['positions'];
  readonly turns: MainThreadTurns;
  readonly retentionMs: number;
  /** The intake time at which the rule is taken to begin, Unix ms UTC. What it reads back is read, too. */
  readonly fromMs: number;
  /** It ends once all that was taken in by then is read, Unix ms UTC. */
  readonly toMs: number;
  readonly signal: AbortSignal;
}

/**
 * Folds the stored events in the order in which they were taken in, as the program does that follows the rule, and delivers nothing. Throws
 * as `readFeed` does.
 */
export async function* backtest(options: BacktestOptions): AsyncGenerator<BacktestLine, void> {
  const { rule, reads, positions, retentionMs, fromMs, toMs, signal } = options;
  const { maxAlerts, ...most } = BACKTEST_LIMITS;
  const fold = new RuleFold(rule, { retentionMs, begunAtMs: fromMs, maxAlerts, budget: new EntryBudget(most) });
  const rules = new RuleSet([rule]);
  const [sums, told] = [
    { lookedAt: 0, counted: 0, unreadable: 0 },
    { hits: 0, told: 0, heldBack: 0 },
  ];
  const readFromMs = fromMs - readBackMs(rule, retentionMs);
  let after = await positions.at(readFromMs);
  for (let page: FeedPage | undefined; page === undefined || (page.more && page.completeToMs <= toMs); after = page.end) {
    page = await reads.readFeed({ ...rules.wanted, logs: false, after, limit: PAGE_EVENTS }, { signal });
    sums.lookedAt += page.lookedAt;
    sums.unreadable += page.unreadable;
    const news: FoldNews[] = [];
    sums.counted += await countLines(page.lines, { rules, fold, news, ...options });
    news.push(...fold.completeTo(page.completeToMs));
    for (const one of news) {
      const alert = alertLine(one, rule);
      if (alert !== null) yield { kind: 'alert', alert };
      if (one.kind === 'hit') told[one.alert.hits > 1 ? 'heldBack' : 'hits'] += 1;
      if (one.kind === 'told') told.told += 1;
    }
    yield { kind: 'progress', lookedAt: sums.lookedAt, completeTo: page.completeToMs };
  }
  const { timeMs: readTo, tooLate, bounded } = fold.facts;
  const hits = told.hits + told.heldBack;
  yield {
    kind: 'summary',
    rule: rule.name,
    version: versionOf(rule),
    readFrom: readFromMs,
    readTo,
    ...sums,
    ...told,
    hits,
    tooLate,
    bounded,
  };
}

interface Counting extends Pick<BacktestOptions, 'turns' | 'signal'> {
  readonly rules: RuleSet;
  readonly fold: RuleFold;
  readonly news: FoldNews[];
}

/** Counts the events of a page, with turns for others in between. Resolves with how many the rule is about. */
async function countLines(lines: readonly FeedLine[], { rules, fold, news, turns, signal }: Counting): Promise<number> {
  let counted = 0;
  let work = await turns.begin();
  try {
    for (const line of lines) {
      const event = readFields(line);
      const subject = matchSubject(event.fields);
      if (rules.matching(event.zoneId, subject).length > 0) {
        counted += 1;
        news.push(...fold.count(event, subject));
      }
      if (!work.isLong()) continue;
      work.end();
      work = await turns.begin();
      signal.throwIfAborted();
    }
  } finally {
    work.end();
  }
  return counted;
}
