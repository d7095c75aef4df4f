import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { type ExpiredWatermark, ExpiredWatermarks } from '../../../../store/embedded/catalog/expired-watermarks.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { assertProperty } from '../../../random/assert-property.ts';

const anyDrop = fc.record({ zoneId: fc.integer({ min: 1, max: 4 }), sequence: fc.bigInt({ min: 1n, max: 30n }) });
const anySweeps = fc.array(fc.uniqueArray(anyDrop, { minLength: 1, maxLength: 4, selector: ({ zoneId }) => zoneId }), { maxLength: 8 });
const anyReader = fc.record({
  zones: fc.oneof(fc.constant('all' as const), fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 })),
  sequence: fc.bigInt({ min: 0n, max: 31n }),
  afterSweeps: fc.nat({ max: 8 }),
});

function droppedBy(sweeps: readonly (readonly Omit<ExpiredWatermark, 'sweep'>[])[]): ExpiredWatermark[] {
  return sweeps.flatMap((drops, index) => drops.map((drop) => ({ ...drop, sweep: index + 1 })));
}

test('a reader has missed something exactly when a later sweep dropped something of its zones ahead of it; also after a restart', () => {
  assertProperty(
    fc.property(anySweeps, fc.array(anyReader, { maxLength: 10 }), (sweeps, readers) => {
      const all = droppedBy(sweeps);
      const expiredWatermarks = new ExpiredWatermarks();
      const catalog = new Catalog(':memory:');
      for (const [index] of sweeps.entries()) {
        const events = all.filter(({ sweep }) => sweep === index + 1);
        expiredWatermarks.add(events);
        catalog.apply({ add: [], remove: [], watermarks: events });
      }
      const again = new ExpiredWatermarks(catalog.expiredWatermarks.list());
      catalog.close();
      for (const { zones, sequence, afterSweeps } of readers) {
        const isMissed = all.some(
          (drop) => drop.sweep > afterSweeps && drop.sequence > sequence && (zones === 'all' || zones.includes(drop.zoneId)),
        );
        for (const known of [expiredWatermarks, again]) {
          expect(known.sweeps).toBe(sweeps.length);
          expect(known.sequence(zones, afterSweeps) > sequence).toBe(isMissed);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('little is remembered however often the retention sweeps', () => {
  const catalog = new Catalog(join(temporaryFolder(), 'catalog.sqlite'));
  for (let sweep = 1; sweep <= 500; sweep += 1) {
    catalog.apply({ add: [], remove: [], watermarks: [{ zoneId: 7, sweep, sequence: BigInt(sweep * 10 - (sweep % 3)) }] });
  }
  expect(catalog.expiredWatermarks.list().length).toBeLessThan(3);
  catalog.close();
});
