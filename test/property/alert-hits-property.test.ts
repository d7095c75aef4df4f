import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AlertRule, RuleKind } from '../../alerts/rule.ts';
import { RuleFold } from '../../alerts/rule-fold.ts';
import { RuleSet } from '../../alerts/rule-set.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { matchSubject } from '../../query/match/match-event.ts';
import type { Predicate } from '../../query/plan/search-plan.ts';
import { compileConditions } from '../../query/request/compile-search.ts';
import { readFields } from '../../store/feed-event.ts';
import { KeptFold } from '../alerts/kept-fold.ts';
import { storeRuns, type TestStore } from '../fixtures/test-store.ts';
import { oracleEvents } from '../oracle/raw-event.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { wholeFeed } from '../store/embedded/feed/whole-feed.ts';
import { rowsPlan } from '../store/embedded/stored-events.ts';
import { arbitraryEvent, ZONES } from './arbitrary-event.ts';
import { arbitraryMatch } from './arbitrary-request.ts';
import { appendEvents, NOW_MS, openStoreIn, RETENTION_MS, withFolder } from './filled-store.ts';

const MAX_GROUPS = 500;

/** Events of the last three days, of which each batch has some of the batch before again. */
const drawn = fc
  .array(
    fc.record({
      events: fc.array(arbitraryEvent(NOW_MS), { minLength: 1, maxLength: 40 }),
      step: fc.constantFrom('none', 'flush', 'merge'),
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .chain((batches) =>
    fc.record({
      batches: fc.constant(batches),
      match: arbitraryMatch(oracleEvents(batches.flatMap(({ events }) => events))),
      zones: fc.constantFrom('all' as const, [1, 2], ZONES),
      kind: fc.record({ isDistinct: fc.boolean(), atLeast: fc.integer({ min: 1, max: 4 }) }),
      windowMs: fc.constantFrom(MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, DAY_MS),
      limit: fc.integer({ min: 1, max: 30 }),
    }),
  );

/** A rule whose hits do not hang on the order in which events come. */
type CountingRule = AlertRule & { readonly kind: Extract<RuleKind, { readonly kind: 'count' | 'distinct' }> };

type Drawn = typeof drawn extends fc.Arbitrary<infer One> ? One : never;

function ruleOf({ match, zones, kind: { isDistinct, atLeast }, windowMs }: Drawn): CountingRule {
  const kind: CountingRule['kind'] = isDistinct ? { kind: 'distinct', field: 'ip', atLeast } : { kind: 'count', atLeast };
  const where = compileConditions(Buffer.from(JSON.stringify(match)));
  const name = { name: 'a-rule', severity: 'medium', labels: {}, receivers: [] } as const;
  const search = { query: '', filters: [], exclude: [] };
  const waits = { quietMs: 30 * MINUTE_MS, hold: 1, lateMs: DAY_MS, maxGroups: 100_000, maxAgeMs: HOUR_MS };
  return {
    ...name,
    ...waits,
    search,
    zones: zones === 'all' ? zones : [...zones].sort((a, b) => a - b),
    where,
    by: ['country'],
    kind,
    windowMs,
  };
}

/** The hits of a rule over the feed of the store, in pages, behind each of which the fold is stopped. */
async function foldedHits(store: TestStore, rule: CountingRule, limit: number): Promise<readonly string[]> {
  const hits: string[] = [];
  const rules = new RuleSet([rule]);
  const kept = new KeptFold();
  let fold = new RuleFold(rule, { retentionMs: RETENTION_MS });
  let after = await store.positions.oldest();
  for (let more = true; more; ) {
    const page = await store.readFeed({ ...rules.wanted, logs: false, after, limit });
    const events = page.lines.map(readFields).filter(({ zoneId, fields }) => rules.matching(zoneId, matchSubject(fields)).length > 0);
    const news = [...events.flatMap((event) => fold.count(event)), ...fold.completeTo(page.completeToMs)];
    hits.push(
      ...news.flatMap((one) => (one.kind === 'hit' ? [`${one.windowMs} ${one.alert.group[0]?.sha256 ?? one.alert.group[0]?.text}`] : [])),
    );
    kept.write(JSON.parse(JSON.stringify(fold.takeChanges())));
    fold = new RuleFold(rule, { retentionMs: RETENTION_MS, ...(kept.state && { state: kept.state, alerts: kept.state.alerts }) });
    fold.completeTo(page.completeToMs);
    ({ end: after, more } = page);
  }
  expect([fold.facts.tooLate, fold.facts.bounded]).toEqual([0, 0]);
  return hits.toSorted();
}

const HAS_ADDRESS: Predicate = { kind: 'wildcard', column: 'ip', parts: ['', ''] };

/** The same by a GROUP BY of the store over each window. */
async function groupedHits(store: TestStore, rule: CountingRule): Promise<readonly string[]> {
  const { kind, windowMs, zones, where } = rule;
  const hits: string[] = [];
  const by = kind.kind === 'count' ? (['country'] as const) : (['country', 'ip'] as const);
  const asked: Predicate = kind.kind === 'count' ? where : { kind: 'all', of: [where, HAS_ADDRESS] };
  const times = (await wholeFeed(store, { limit: 1_000 })).map(({ timestamp }) => timestamp);
  const stepMs = windowMs / 2;
  const begins = new Set(times.flatMap((ms) => [0, 1].map((nth) => (Math.floor(ms / stepMs) - nth) * stepMs)));
  for (const fromMs of begins) {
    const plan = { zones, where: asked, window: { fromMs, toMs: fromMs + windowMs }, page: { index: 0, size: MAX_GROUPS } };
    const found = await store.search(rowsPlan({ ...plan, output: { kind: 'groups', by, buckets: 0 } }));
    if (found.kind !== 'groups') throw new Error('groups were asked for');
    expect(found.total).toBeLessThanOrEqual(MAX_GROUPS);
    const counts = new Map<string, number>();
    for (const { key, count } of found.groups) {
      const country = key.country ?? '';
      counts.set(country, (counts.get(country) ?? 0) + (kind.kind === 'count' ? count : 1));
    }
    for (const [country, count] of counts) if (count >= kind.atLeast) hits.push(`${fromMs} ${country}`);
  }
  return hits.toSorted();
}

test('where nothing is too late or bounded, the hits of a rule are those of a GROUP BY over the store', async () => {
  const property = fc.asyncProperty(drawn, (life) =>
    withFolder(async (folder) => {
      const rule = ruleOf(life);
      const store = await openStoreIn(folder);
      try {
        let before: (typeof life.batches)[number]['events'] = [];
        for (const { events, step } of life.batches) {
          await appendEvents(store, [...events, ...before.slice(0, 5)]);
          before = events;
          if (step !== 'none') await store.settle(step);
        }
        expect(await foldedHits(store, rule, life.limit)).toEqual(await groupedHits(store, rule));
      } finally {
        await store.close();
      }
    }),
  );
  await assertAsyncProperty(property, { numRuns: propertyRuns(storeRuns(12)) });
});
