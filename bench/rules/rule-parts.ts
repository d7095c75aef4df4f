import { EntryBudget } from '../../alerts/entry-budget.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { readRule } from '../../alerts/rule-file.ts';
import { RuleFold } from '../../alerts/rule-fold.ts';
import { RuleSet } from '../../alerts/rule-set.ts';
import { compileMatcher, matchSubject } from '../../query/match/match-event.ts';
import type { FeedLine } from '../../store/event-store.ts';
import { readFields } from '../../store/feed-event.ts';
import { BENCH_NOW_MS, liveOptions } from '../events/event-file.ts';
import { generateEvents } from '../events/event-generator.ts';
import { measuredSets, RETENTION_MS } from './rule-sets.ts';

export interface PartsOptions {
  readonly events: number;
  /** Events of a page of the feed. */
  readonly page: number;
}

const ROUNDS = 3;

/** How much is done: the events are parsed, and matched, and counted, and what changed is taken after each page. */
type Depth = 'parse' | 'match' | 'count' | 'changes';
const DEPTHS: readonly Depth[] = ['parse', 'match', 'count', 'changes'];

/**
 * What rules cost in this process once the feed was read for their conditions, in microseconds of CPU for each stored event, the least of
 * some rounds. Only the events that the condition of all rules finds are parsed, matched and counted; `changes` is what a fold gives to be
 * written after each page.
 */
export function ruleParts({ events, page }: PartsOptions): { readonly header: readonly string[]; readonly rows: readonly string[][] } {
  const lines: readonly FeedLine[] = Array.from(generateEvents(liveOptions(events)), (bytes, nth) => {
    return { sequence: BigInt(nth), ingestedAtMs: BENCH_NOW_MS + Math.floor(nth / page) * 250, bytes, start: 0, end: bytes.length };
  });
  const rows = measuredSets({ count: 1, events: 0 }).map(({ name, documents }) => {
    const rules = documents.map((document) => readRule(JSON.stringify(document)));
    const { zones, where } = new RuleSet(rules).wanted;
    const { matches } = compileMatcher(where);
    const found = lines.filter((line) => {
      const { zoneId, fields } = readFields(line);
      return (zones === 'all' || zones.includes(zoneId)) && matches(matchSubject(fields));
    });
    const least = DEPTHS.map((depth) => {
      return Math.min(...Array.from({ length: ROUNDS }, () => followMicros(rules, found, depth))) / events;
    });
    return [name, String(found.length), ...least.map((micros) => micros.toFixed(2))];
  });
  return { header: ['rules', 'events found', 'parsed', 'matched', 'counted', 'changes taken'], rows };
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function followMicros(rules: readonly AlertRule[], found: readonly FeedLine[], depth: Depth): number {
  const set = new RuleSet(rules);
  const budget = new EntryBudget();
  const folds = rules.map((rule) => new RuleFold(rule, { retentionMs: RETENTION_MS, budget }));
  const reach = DEPTHS.indexOf(depth);
  const before = cpuMicros();
  let timeMs = BENCH_NOW_MS;
  for (const line of found) {
    const event = readFields(line);
    if (reach === 0) continue;
    const subject = matchSubject(event.fields);
    const matching = set.matching(event.zoneId, subject);
    if (reach === 1) continue;
    if (event.ingestedAtMs > timeMs) {
      timeMs = event.ingestedAtMs;
      for (const fold of folds) {
        fold.completeTo(timeMs);
        if (reach === 3) fold.takeChanges();
      }
    }
    for (const index of matching) folds[index]?.count(event, subject);
  }
  return cpuMicros() - before;
}
