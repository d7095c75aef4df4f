import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { type ExpiredWatermark, ExpiredWatermarks } from '../../../../store/embedded/catalog/expired-watermarks.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { assertProperty } from '../../../random/assert-property.ts';

const anyDrop = fc.record({ zoneId: fc.integer({ min: 1, max: 4 }), sequence: fc.bigInt({ min: 1n, max: 30n }) });
const anyRuns = fc.array(fc.uniqueArray(anyDrop, { minLength: 1, maxLength: 4, selector: ({ zoneId }) => zoneId }), { maxLength: 8 });
const anyReader = fc.record({
  zones: fc.oneof(fc.constant('all' as const), fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 })),
  sequence: fc.bigInt({ min: 0n, max: 31n }),
  afterRuns: fc.nat({ max: 8 }),
});

function droppedBy(runs: readonly (readonly Omit<ExpiredWatermark, 'run'>[])[]): ExpiredWatermark[] {
  return runs.flatMap((drops, index) => drops.map((drop) => ({ ...drop, run: index + 1 })));
}

test('a reader has missed something exactly when a later run dropped something of its zones ahead of it; also after a restart', () => {
  assertProperty(
    fc.property(anyRuns, fc.array(anyReader, { maxLength: 10 }), (runs, readers) => {
      const all = droppedBy(runs);
      const expiredWatermarks = new ExpiredWatermarks();
      const catalog = new Catalog(':memory:');
      for (const [index] of runs.entries()) {
        const events = all.filter(({ run }) => run === index + 1);
        expiredWatermarks.add(events);
        catalog.apply({ add: [], remove: [], watermarks: events });
      }
      const again = new ExpiredWatermarks(catalog.expiredWatermarks.list());
      catalog.close();
      for (const { zones, sequence, afterRuns } of readers) {
        const isMissed = all.some(
          (drop) => drop.run > afterRuns && drop.sequence > sequence && (zones === 'all' || zones.includes(drop.zoneId)),
        );
        for (const known of [expiredWatermarks, again]) {
          expect(known.runs).toBe(runs.length);
          expect(known.sequence(zones, afterRuns) > sequence).toBe(isMissed);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('little is remembered however often the retention runs', () => {
  const catalog = new Catalog(join(temporaryFolder(), 'catalog.sqlite'));
  for (let run = 1; run <= 500; run += 1) {
    catalog.apply({ add: [], remove: [], watermarks: [{ zoneId: 7, run, sequence: BigInt(run * 10 - (run % 3)) }] });
  }
  expect(catalog.expiredWatermarks.list().length).toBeLessThan(3);
  catalog.close();
});
