// Measures what rules of alerts cost of a core for each stored event, once the feed was read for their conditions:
//   node bench/rule-speed.ts [--events N] [--page N]
// Only the events that the condition of all rules finds are parsed, matched and counted; what the condition costs is measured by
// `condition-speed.ts`. `changes` is what a fold gives to be written after each page.

import { EntryBudget } from '../alerts/entry-budget.ts';
import type { AlertRule } from '../alerts/rule.ts';
import { readRule } from '../alerts/rule-file.ts';
import { RuleFold } from '../alerts/rule-fold.ts';
import { RuleSet } from '../alerts/rule-set.ts';
import { MINUTE_MS } from '../query/durations.ts';
import { compileMatcher, matchSubject } from '../query/match/match-event.ts';
import type { FeedLine } from '../store/event-store.ts';
import { readFields } from '../store/feed-event.ts';
import { BENCH_NOW_MS, liveOptions } from './events/event-file.ts';
import { generateEvents } from './events/event-generator.ts';
import { PATHS, RULES } from './events/traffic-pools.ts';
import { givenOptions } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { textTable } from './report/figures.ts';

const RETENTION_MS = 72 * 60 * MINUTE_MS;
const ROUNDS = 3;

const { events, page } = givenOptions({ events: 200_000, page: 2_000 });

/** A rule that counts by address and has no hit. */
const counting = (name: string, search: string, zones: string | number = 'all'): AlertRule =>
  readRule(JSON.stringify({ name, zones, search, by: 'ip', kind: 'count', at_least: 1_000_000, window: '5m', late: '15m' }));

const named = (prefix: string, count: number, searchOf: (nth: number) => string): AlertRule[] =>
  Array.from({ length: count }, (_, nth) => counting(`${prefix}-${nth}`, searchOf(nth)));

const idOf = (nth: number): string => RULES[nth % RULES.length]?.id ?? '';
const pathOf = (nth: number): string => PATHS[nth % PATHS.length] ?? '';

const SETS: Readonly<Record<string, readonly AlertRule[]>> = {
  'a rare rule': [counting('rare', 'ruleId:no-such-rule')],
  'eight usual rules': named('usual', 8, (nth) => `ruleId:${idOf(nth)}`),
  'a hundred usual rules of all zones': [
    ...named('rule', 60, (nth) => `ruleId:${idOf(nth)}`),
    ...named('path', 20, (nth) => `action:blocked url:~${pathOf(nth)}`),
    ...named('feature', 20, (nth) => `feature:waf ruleId:${idOf(60 + nth)},${idOf(90 + nth)} -country:DE`),
  ],
  'a thousand rules of a zone each': Array.from({ length: 1_000 }, (_, nth) => counting(`zone-${nth}`, 'action:blocked', nth + 1)),
};

const LINES: readonly FeedLine[] = Array.from(generateEvents(liveOptions(events)), (bytes, nth) => {
  return { sequence: BigInt(nth), ingestedAtMs: BENCH_NOW_MS + Math.floor(nth / page) * 250, bytes, start: 0, end: bytes.length };
});

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** How much is done: the events are parsed, and matched, and counted, and what changed is taken after each page. */
type Depth = 'parse' | 'match' | 'count' | 'changes';
const DEPTHS: readonly Depth[] = ['parse', 'match', 'count', 'changes'];

/** Microseconds of a core for each stored event. */
function follow(rules: readonly AlertRule[], found: readonly FeedLine[], depth: Depth): number {
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
  return (cpuMicros() - before) / events;
}

const rows: string[][] = [];
for (const [name, rules] of Object.entries(SETS)) {
  const { zones, where } = new RuleSet(rules).wanted;
  const { matches } = compileMatcher(where);
  const found = LINES.filter((line) => {
    const { zoneId, fields } = readFields(line);
    return (zones === 'all' || zones.includes(zoneId)) && matches(matchSubject(fields));
  });
  const least = DEPTHS.map((depth) => Math.min(...Array.from({ length: ROUNDS }, () => follow(rules, found, depth))));
  rows.push([name, String(found.length), ...least.map((micros) => micros.toFixed(2))]);
}
const title = `µs of CPU for each of ${events} stored events, the least of ${ROUNDS} rounds; each column has what stands before it`;
process.stdout.write(`${circumstancesText(circumstances({}))}\n\n`);
process.stdout.write(`${textTable(title, ['rules', 'events found', 'parsed', 'matched', 'counted', 'changes taken'], rows)}\n`);
