import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Predicate } from '../../../../query/plan/search-plan.ts';
import { searchKey } from '../../../../store/embedded/search/search-key.ts';
import { SegmentCounts } from '../../../../store/embedded/search/segment-counts.ts';
import { answered } from '../../../fixtures/answered-rows.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { KNOWN_IN_TIME } from '../../../fixtures/known-in-time.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { assertAsyncProperty } from '../../../random/assert-property.ts';
import { propertyRuns } from '../../../random/property-runs.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW, rowsPlan } from '../stored-events.ts';

const COUNTRIES = ['DE', 'FR', 'US'] as const;
const FIRST = NOW - 40 * HOUR;
const ROUNDS = propertyRuns(16);

const from = (country: string): Predicate => ({ kind: 'equals', column: 'country', values: [country], folded: false });

const search = fc.record({
  country: fc.constantFrom(...COUNTRIES),
  fromHour: fc.constantFrom(0, 3, 11, 12, 13.5),
  hours: fc.constantFrom(1, 12, 20, 40),
  page: fc.nat(3),
});
const round = fc.record({
  step: fc.constantFrom('append', 'flush', 'merge'),
  searches: fc.array(search, { minLength: 4, maxLength: 8 }),
});

test('searches that remember counts answer what others do, while windows move and events are stored, flushed and merged', async () => {
  const property = fc.asyncProperty(fc.array(round, { minLength: ROUNDS, maxLength: ROUNDS }), async (rounds) => {
    const remembering = await embeddedStoreIn(temporaryFolder());
    const counting = await embeddedStoreIn(temporaryFolder(), { cachesCounts: false });
    const both = [remembering, counting];
    let stored = 0;
    const steps = {
      append: async () => {
        const batch = Array.from({ length: 40 }, (_, index) => {
          const number = stored + index;
          return event(`e${number}`, FIRST + ((number * 7_919) % 2_400) * 60_000, { country: COUNTRIES[number % 3] });
        });
        stored += batch.length;
        await Promise.all(both.map((store) => store.append(canonicalBatch(batch))));
      },
      flush: async () => {
        await Promise.all(both.map((store) => store.flushNow()));
      },
      merge: async () => {
        await Promise.all(both.map((store) => store.compactNow()));
      },
    };
    for (const { step, searches } of rounds) {
      await steps[step as keyof typeof steps]();
      for (const { country, fromHour, hours, page } of searches) {
        const fromMs = FIRST + fromHour * HOUR;
        const plan = rowsPlan({ window: { fromMs, toMs: fromMs + hours * HOUR }, where: from(country), page: { index: page, size: 7 } });
        expect(await answered(await remembering.search(plan))).toEqual(await answered(await counting.search(plan)));
      }
    }
    await Promise.all(both.map((store) => store.close()));
  });
  await assertAsyncProperty(property, { numRuns: 1, ...KNOWN_IN_TIME });
});

test('what is remembered is told apart by zone and predicate, and the searches made last are kept', () => {
  const counts = new SegmentCounts();
  counts.of({ zones: [7], where: from('DE') }).set(1, 10);
  expect(counts.of({ zones: [7], where: from('DE') }).get(1)).toBe(10);
  expect(counts.of({ zones: [8], where: from('DE') }).size).toBe(0);
  expect(counts.of({ zones: [7], where: from('FR') }).size).toBe(0);
  expect(counts.of({ zones: [7], where: { kind: 'addressIn', ranges: [{ first: 1n, last: 2n }] } }).size).toBe(0);
  for (let other = 0; other < 700; other += 1) {
    counts.of({ zones: [100 + other], where: from('DE') });
  }
  expect(counts.of({ zones: [7], where: from('DE') }).get(1)).toBe(10);
  for (let other = 0; other < 1_250; other += 1) {
    counts.of({ zones: [5_000 + other], where: from('DE') });
  }
  expect(counts.of({ zones: [7], where: from('DE') }).size).toBe(0);
});

test('fewer searches are remembered where they have counted many segments', () => {
  const counts = new SegmentCounts();
  const plan = (zone: number) => ({ zones: [zone], where: from('DE') });
  for (let zone = 0; zone < 60; zone += 1) {
    const known = counts.of(plan(zone));
    for (let segment = 0; segment < 9_600; segment += 1) known.set(segment, 1);
  }
  const remembered = Array.from({ length: 60 }, (_, zone) => counts.of(plan(59 - zone)).size > 0);
  expect(remembered.indexOf(false)).toBe(33);
});

test('the name of a search is short, however many zones and values it has, and told apart by each of them', () => {
  const zones = Array.from({ length: 5_000 }, (_, index) => index);
  const names = [
    searchKey({ zones, where: from('DE') }),
    searchKey({ zones: zones.slice(1), where: from('DE') }),
    searchKey({ zones, where: from('x'.repeat(1_000_000)) }),
    searchKey({ zones: [1, 2], where: from('DE') }),
    searchKey({ zones: [12], where: from('DE') }),
    searchKey({ zones: 'all', where: from('DE') }),
  ];
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name.length).toBeLessThanOrEqual(64);
});
