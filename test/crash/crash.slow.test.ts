import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import './recorded-calls.ts';
import { KNOWN_IN_TIME } from '../fixtures/known-in-time.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import {
  atEvery,
  crashTwice,
  drawnPowerLosses,
  kills,
  loseWhatIsTakenOver,
  PLAIN_POWER_LOSSES,
  recordedLife,
  tryCrashes,
} from './crash.ts';
import { anyLife, LIVES, WHOLE_LIFE } from './histories.ts';

describe.each(Object.entries(LIVES))('%s', (_, steps) => {
  test('loses nothing and doubles nothing by a kill after any of its operations', async () => {
    expect(await tryCrashes(await recordedLife(steps), kills)).toBeGreaterThan(40);
  });

  test('loses nothing and doubles nothing by a power loss after any of its operations', async () => {
    expect(await tryCrashes(await recordedLife(steps), () => PLAIN_POWER_LOSSES)).toBeGreaterThan(40);
  });
});

test('a store that was killed takes in events again, and another kill loses nothing and doubles nothing', async () => {
  expect(await crashTwice(await recordedLife(WHOLE_LIFE), atEvery(30, kills), kills)).toBeGreaterThan(40);
});

test('a power loss after a kill takes nothing of what the first process had not synced and the second one took over', async () => {
  expect(await loseWhatIsTakenOver(await recordedLife(WHOLE_LIFE))).toBeGreaterThan(40);
});

test('a random life loses nothing and doubles nothing by a kill or a power loss after any of its operations', async () => {
  const survives = fc.asyncProperty(anyLife, fc.noBias(fc.integer()), async (steps, seed) => {
    await tryCrashes(await recordedLife(steps), (point) => ({ ...kills(point), ...drawnPowerLosses(seed)(point) }));
  });
  await assertAsyncProperty(survives, { numRuns: 1, ...KNOWN_IN_TIME });
});
