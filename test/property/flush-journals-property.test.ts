import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SegmentKernel } from '../../store/embedded/parquet/segment-kernel.ts';
import { largestVectors } from '../fixtures/largest-vectors.ts';
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

const RUNS = propertyRuns(20);

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

/** Texts of every length up to that of a stored one, most of them short. */
const anyLength = fc.oneof(
  { arbitrary: text, weight: 6 },
  { arbitrary: fc.integer({ min: 0, max: 65_536 }).map((length) => 'x'.repeat(length)), weight: 1 },
  { arbitrary: fc.constantFrom('y'.repeat(65_536), '🦆'.repeat(16_384), 'z'.repeat(60_000)), weight: 3 },
);
const mixedEvent = fc.record({
  logId: fc.uuid(),
  shieldZoneId: fc.constantFrom(1, 2, 3),
  timestamp: fc.integer({ min: 0, max: 3 * HOUR_MS }),
  ua: optional(anyLength),
  ruleName: optional(anyLength),
  url: optional(fc.tuple(anyLength, anyLength).map(([head, tail]) => `${head}?${tail}`)),
});
/** Many short events beside few long ones, in runs and spread, so that vectors are full of rows and of bytes. */
const mixedBatch = fc
  .tuple(fc.array(mixedEvent, { minLength: 1, maxLength: 50 }), fc.constantFrom(1, 1, 2, 5, 60))
  .map(([events, times]) =>
    Array.from({ length: times }, (_, round) => events.map((one) => ({ ...one, logId: `${one.logId}-${round}` }))).flat(),
  );

test('no vector has more than 2 MiB of a column, in journals and in what a kernel flushes of them', async () => {
  const kernel = new SegmentKernel();
  let severalGroups = 0;
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(mixedBatch, { minLength: 1, maxLength: 3 }), async (batches) => {
      const order = await journalsOf(batches);
      const { segments } = await expectFlushedAlike(order, kernel);
      const journals = order.sources.map((source) => ('path' in source ? source.path : ''));
      const files = segments.map(({ file }) => join(order.segmentsFolder, file));
      const largest = await largestVectors([...journals, ...files]);
      expect(Math.max(...largest)).toBeLessThanOrEqual(2 * 1024 * 1024);
      severalGroups += Number(segments.some(({ blocks }) => (blocks?.length ?? 0) > 2 * 16));
    }),
    { numRuns: propertyRuns(6) },
  );
  expect(severalGroups).toBeGreaterThan(0);
});
