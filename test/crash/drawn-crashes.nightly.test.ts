import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import './recorded-calls.ts';
import { KNOWN_IN_TIME } from '../fixtures/known-in-time.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { atEvery, type CrashesAt, crashTwice, drawnPowerLosses, kills, recordedLife, tryCrashes } from './crash.ts';
import { anyLife, LIVES, WHOLE_LIFE } from './histories.ts';
import type { History } from './history.ts';
import { tryRepairs } from './repaired-folders.ts';

describe.each(Object.entries(LIVES))('%s', (_, steps) => {
  test('loses nothing and doubles nothing by a drawn power loss after any of its operations', async () => {
    expect(await tryCrashes(await recordedLife(steps), drawnPowerLosses())).toBeGreaterThan(40);
  });

  test('is brought back from its files after a drawn power loss took its catalog', async () => {
    expect(await tryRepairs(await recordedLife(steps), drawnPowerLosses())).toBeGreaterThan(20);
  });
});

test('a store that had a power loss takes in events again, and another one loses nothing and doubles nothing', async () => {
  expect(await crashTwice(await recordedLife(WHOLE_LIFE), atEvery(30, drawnPowerLosses()), drawnPowerLosses())).toBeGreaterThan(40);
});

/** Tries a kill and a drawn power loss at all moments of random lives. */
const ofRandomLives = (tryAt: (history: History, crashesAt: CrashesAt) => Promise<number>) =>
  assertAsyncProperty(
    fc.asyncProperty(anyLife, fc.noBias(fc.integer()), async (steps, seed) => {
      await tryAt(await recordedLife(steps), (point) => ({ ...kills(point), ...drawnPowerLosses(seed)(point) }));
    }),
    { numRuns: propertyRuns(4), ...KNOWN_IN_TIME },
  );

test('random lives lose nothing and double nothing by a kill or a power loss after any of their operations', () =>
  ofRandomLives(tryCrashes));

test('random lives are brought back from their files without a catalog', () => ofRandomLives(tryRepairs));
