import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { type BoundedCase, measure } from './bounded-case.ts';
import { VALUE_KINDS, type ValueKind } from './event-values.ts';
import { faults, summary } from './measures.ts';
import { REQUEST_KINDS } from './requests.ts';

const MIB = 1024 ** 2;
const MOST_EVENTS = 100_000;
const MOST_CLIENTS = 16;
/** Values whose length is their own. */
const SHORT: readonly ValueKind[] = ['usual', 'many everywhere'];
const SHORT_BYTES = 300;

const randomCase: fc.Arbitrary<BoundedCase> = fc
  .record({
    values: fc.constantFrom(...VALUE_KINDS),
    bytes: fc.constantFrom(700, 2_000, 20_000, 66_000, 200_000, 1_040_000),
    totalMib: fc.constantFrom(1, 8, 24, 48),
    zones: fc.constantFrom(1, 1, 2, 20, 2_000),
    hours: fc.constantFrom(1, 24, 70),
    state: fc.constantFrom('unflushed', 'flushed', 'merged'),
    request: fc.constantFrom(...REQUEST_KINDS),
    fault: fc.constantFrom('none', 'none', 'hang-up', 'unread'),
    deadlineMs: fc.constantFrom(1_000, 3_000),
    keys: fc.integer({ min: 1, max: MOST_CLIENTS }),
    clients: fc.integer({ min: 1, max: MOST_CLIENTS }),
  })
  .map(({ totalMib, request, bytes: length, clients, ...rest }): BoundedCase => {
    const bytes = SHORT.includes(rest.values) ? SHORT_BYTES : length;
    const events = Math.max(1, Math.min(MOST_EVENTS, Math.floor((totalMib * MIB) / bytes)));
    return { ...rest, bytes, events, requests: [request], clients: Math.max(1, Math.min(clients, Math.floor(MOST_CLIENTS / rest.keys))) };
  });

const property = fc.asyncProperty(randomCase, async (one) => {
  const { intake, requests } = await measure(one);
  process.stderr.write(`${JSON.stringify(one)}: ${summary(requests)}; intake: ${summary(intake)}\n`);
  expect({ intake: faults(intake), requests: faults(requests) }).toEqual({ intake: [], requests: [] });
});

test('no request takes the program away', async () => {
  await assertAsyncProperty(property, { numRuns: propertyRuns(10), endOnFailure: true });
});
