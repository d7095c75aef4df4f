import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FoldNews } from '../../../alerts/alert-book.ts';
import { readRule } from '../../../alerts/rule-file.ts';
import { RuleFold } from '../../../alerts/rule-fold.ts';
import { DAY_MS, MINUTE_MS } from '../../../query/durations.ts';
import { type CountedStretch, stretchesAt } from '../../../web/alerting/counted-stretches.ts';
import { highestTotals, previewOf } from '../../../web/alerting/rule-preview.ts';
import { ruleText } from '../../../web/alerting/rule-text.ts';
import { NO_SEARCH } from '../../../web/state/explorer-state.ts';
import { assertProperty } from '../../random/assert-property.ts';

const QUIET_MS = 30 * MINUTE_MS;
/** A day's begin, at which windows of every length begin. */
const FROM = Date.UTC(2026, 10, 24);

type Halves = Readonly<Record<string, readonly number[]>>;

/** The stretches that have so many windows each, as they are asked for: each begins with the last half of the one before. */
function stretchesOf(byGroup: Halves, halfMs: number, windows: number, mostElsewhere = 0): readonly CountedStretch[] {
  const length = Math.max(...Object.values(byGroup).map((halves) => halves.length));
  const stretches: CountedStretch[] = [];
  for (let first = 0; first < length - 1; first += windows) {
    const end = Math.min(length, first + windows + 1);
    const groups = Object.entries(byGroup).map(([group, halves]) => ({ group: [group], halves: halves.slice(first, end) }));
    stretches.push({ from: FROM + first * halfMs, to: FROM + end * halfMs, groups, mostElsewhere });
  }
  return stretches;
}

describe('what a rule would have made of three days', () => {
  const minutes = 10;
  const rule = { windowMs: minutes * MINUTE_MS, quietMs: QUIET_MS };
  const preview = (halves: readonly number[], atLeast: number) => {
    const { hits, alerts } = previewOf(stretchesOf({ NL: halves }, 5 * MINUTE_MS, 500), { ...rule, atLeast });
    return [hits, alerts];
  };

  test.each([
    ['events within half a window are in two windows', [0, 9, 0], 9, [2, 1]],
    ['one event less is no hit', [0, 8, 0], 9, [0, 0]],
    ['two halves are added up', [0, 4, 5, 0], 9, [1, 1]],
    ['hits half an hour apart are two alerts', [9, 0, 0, 0, 0, 0, 0, 0, 0, 9], 9, [2, 2]],
    ['hits five minutes less apart are one', [9, 0, 0, 0, 0, 0, 0, 0, 9], 9, [2, 1]],
  ])('%s', (_what, halves, atLeast, expected) => {
    expect(preview(halves, atLeast)).toEqual(expected);
  });

  test('is whole where no group that was not counted can have a hit', () => {
    const stretches = [...stretchesOf({ NL: [5, 5] }, 1, 1, 7), ...stretchesOf({ NL: [5, 5] }, 1, 1, 0)];
    expect(previewOf(stretches, { ...rule, atLeast: 7 }).isWhole).toBe(false);
    expect(previewOf(stretches, { ...rule, atLeast: 8 }).isWhole).toBe(true);
  });

  test('the highest window of any group is known for each time', () => {
    expect(highestTotals(stretchesOf({ NL: [1, 2, 9, 0], DE: [4, 1, 0, 0] }, 1, 2), 1)).toEqual([5, 11, 9]);
    expect(highestTotals([{ from: 0, to: 3, groups: [], mostElsewhere: 0 }], 1)).toEqual([0, 0]);
  });

  const few = fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, { arbitrary: fc.integer({ min: 1, max: 12 }), weight: 2 });
  // The program also has a window that begins before the first half, and one that ends behind the last: nothing is in these.
  const halves = fc.array(few, { minLength: 60, maxLength: 60 }).map((counts) => [0, ...counts, 0]);
  test('are the hits and alerts that the program makes of events that come in evenly within each half', () => {
    let alerts = 0;
    assertProperty(
      fc.property(
        fc.record({ NL: halves, DE: halves }),
        fc.constantFrom(1, 2, 5, 10, 15, 30, 60, 720, 1_440),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 70 }),
        (byGroup, windowMinutes, atLeast, windows) => {
          const halfMs = (windowMinutes * MINUTE_MS) / 2;
          const text = ruleText({ name: 'a', zones: 'all', search: NO_SEARCH, by: ['country'], atLeast, windowMinutes });
          const told = newsOf(text, byGroup, halfMs);
          const seen = previewOf(stretchesOf(byGroup, halfMs, windows), { atLeast, windowMs: 2 * halfMs, quietMs: QUIET_MS });
          const count = (kind: FoldNews['kind']) => told.filter((one) => one.kind === kind).length;
          expect(seen).toEqual({ hits: count('hit'), alerts: count('told'), isWhole: true });
          alerts += seen.alerts;
        },
      ),
      { numRuns: 300 },
    );
    expect(alerts).toBeGreaterThan(500);
  });
});

/** What the program makes of the events of half windows. */
function newsOf(text: string, byGroup: Halves, halfMs: number): readonly FoldNews[] {
  const fold = new RuleFold(readRule(text), { retentionMs: 3 * DAY_MS });
  const events = Object.entries(byGroup).flatMap(([country, halves]) => {
    return halves.flatMap((count, half) => {
      return Array.from({ length: count }, (_, nth) => {
        const timestamp = FROM + half * halfMs + Math.floor((nth * halfMs) / count);
        return { zoneId: 7, timestamp, ingestedAtMs: timestamp, fields: { country } };
      });
    });
  });
  return events.toSorted((one, other) => one.timestamp - other.timestamp).flatMap((event) => fold.count(event));
}

describe('the stretches that are asked for', () => {
  const NOW = Date.UTC(2026, 10, 27, 9, 17, 31, 123);

  test.each([1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440])(
    'windows of %i minutes lie whole in one of them, each once',
    (minutes) => {
      const halfMs = (minutes * MINUTE_MS) / 2;
      const stretches = stretchesAt(NOW, minutes);
      const begins = stretches.flatMap(({ from, to }) => Array.from({ length: (to - from) / halfMs - 1 }, (_, nth) => from + nth * halfMs));
      const [first = 0] = begins;
      expect(first % halfMs).toBe(0);
      expect(first - (NOW - 3 * DAY_MS)).toBeGreaterThanOrEqual(0);
      expect(first - (NOW - 3 * DAY_MS)).toBeLessThan(halfMs);
      expect(begins).toEqual(begins.map((_, nth) => first + nth * halfMs));
      expect(NOW - ((begins.at(-1) ?? 0) + 2 * halfMs)).toBeGreaterThanOrEqual(0);
      expect(NOW - ((begins.at(-1) ?? 0) + 2 * halfMs)).toBeLessThan(halfMs);
      for (const { from, to } of stretches) expect((to - from) / halfMs).toBeLessThanOrEqual(500);
    },
  );
});
