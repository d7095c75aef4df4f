import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import './recorded-calls.ts';
import { KNOWN_IN_TIME } from '../fixtures/known-in-time.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { type CrashesAt, crashPoints, drawnPowerLoss, KILL, lifeAfter, PLAIN_POWER_LOSSES, recordedLife, tryCrashes } from './crash.ts';
import { anyLife, RECYCLING_LIFE, WHOLE_LIFE } from './histories.ts';
import type { History } from './history.ts';

const kills: CrashesAt = () => ({ 'a kill': KILL });
const powerLosses: CrashesAt = ({ after, disk }) => ({ ...PLAIN_POWER_LOSSES, 'a drawn power loss': drawnPowerLoss(after, disk) });

const LIVES = { 'the whole life of a store': WHOLE_LIFE, 'a life that recycles files': RECYCLING_LIFE };

describe.each(Object.entries(LIVES))('%s', (_, steps) => {
  test('loses nothing and doubles nothing by a kill after any of its operations', async () => {
    expect(await tryCrashes(await recordedLife(steps), kills)).toBeGreaterThan(40);
  });

  test('loses nothing and doubles nothing by a power loss after any of its operations', async () => {
    expect(await tryCrashes(await recordedLife(steps), powerLosses)).toBeGreaterThan(40);
  });
});

/** Lives go on from every so many moments. */
const EVERY = 30;

/** Crashes once, goes on, and crashes again: at any moment of the recovery, and of the appends and the restart behind it. */
async function crashTwice(life: History, first: CrashesAt, second: CrashesAt, every = EVERY): Promise<number> {
  let tried = 0;
  for (const point of crashPoints(life)) {
    for (const crash of point.after % every === 0 ? Object.values(first(point)) : []) {
      tried += await tryCrashes(await lifeAfter(crash, point, life), second);
    }
  }
  return tried;
}

test('a store that was killed takes in events again, and another kill loses nothing and doubles nothing', async () => {
  expect(await crashTwice(await recordedLife(WHOLE_LIFE), kills, kills)).toBeGreaterThan(40);
});

test('a power loss after a kill takes nothing of what the first process had not synced and the second one took over', async () => {
  const unsynced: CrashesAt = () => ({ 'nothing unsynced is left': () => 'lost' });
  expect(await crashTwice(await recordedLife(WHOLE_LIFE), kills, unsynced, 3)).toBeGreaterThan(40);
});

test('a store that had a power loss takes in events again, and another one loses nothing and doubles nothing', async () => {
  const drawn: CrashesAt = ({ after, disk }) => ({ 'a drawn power loss': drawnPowerLoss(after, disk) });
  expect(await crashTwice(await recordedLife(WHOLE_LIFE), drawn, drawn)).toBeGreaterThan(40);
});

const RUNS = propertyRuns(2);

const survives = (crashesAt: (seed: number) => CrashesAt) =>
  fc.asyncProperty(anyLife, fc.noBias(fc.integer()), async (steps, seed) => {
    await tryCrashes(await recordedLife(steps), crashesAt(seed));
  });

test('random lives lose nothing and double nothing by a kill after any of their operations', async () => {
  await assertAsyncProperty(
    survives(() => kills),
    { numRuns: RUNS, ...KNOWN_IN_TIME },
  );
});

test('random lives lose nothing and double nothing by a power loss after any of their operations', async () => {
  const drawn =
    (seed: number): CrashesAt =>
    ({ after, disk }) => ({ 'a drawn power loss': drawnPowerLoss(seed ^ after, disk) });
  await assertAsyncProperty(survives(drawn), { numRuns: RUNS, ...KNOWN_IN_TIME });
});
