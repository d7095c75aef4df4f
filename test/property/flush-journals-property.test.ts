import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SegmentKernel } from '../../store/embedded/parquet/segment-kernel.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { expectFlushedAlike, journalsOf } from '../store/embedded/flush/flushed-both-ways.ts';
import { anyText, hostileText } from './value-pools.ts';

const HOUR_MS = 3_600_000;

/** Texts of which few differ, so that events share them, and any other text. */
const text = fc.oneof(fc.constantFrom('', 'a', 'waf', 'x'.repeat(9), 'ä€𝄞'), hostileText, anyText);
const url = fc.oneof(
  text,
  fc.tuple(text, text).map(([head, tail]) => `${head}?${tail}`),
);
const ip = fc.oneof(text, fc.ipV4(), fc.ipV6());
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null, freq: 3 });

const event = fc.record({
  logId: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.replaceAll('-', '')),
    text,
  ),
  shieldZoneId: fc.oneof(fc.constantFrom(1, 2, -1), fc.integer()),
  timestamp: fc.oneof(fc.integer({ min: 0, max: 3 * HOUR_MS }), fc.constantFrom(0, HOUR_MS, HOUR_MS - 1), fc.maxSafeNat()),
  ...Object.fromEntries(
    ['feature', 'ruleId', 'ruleName', 'ja4', 'ua', 'asn', 'country', 'action'].map((name) => [name, optional(text)] as const),
  ),
  ip: optional(ip),
  url: optional(url),
});

const RUNS = propertyRuns(40);

test('whatever is in journals, a kernel flushes it into the rows that DuckDB makes of it', async () => {
  const kernel = new SegmentKernel();
  let events = 0;
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(fc.array(event, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 4 }), async (batches) => {
      const { rows } = await expectFlushedAlike(await journalsOf(batches), kernel);
      events += rows.length;
    }),
    { numRuns: RUNS },
  );
  expect(events).toBeGreaterThan(10 * RUNS);
});
