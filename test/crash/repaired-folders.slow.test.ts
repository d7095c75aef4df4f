import { describe, expect, test } from 'vitest';
import './recorded-calls.ts';
import { atEvery, drawnPowerLosses, kills, recordedLife } from './crash.ts';
import { LIVES } from './histories.ts';
import { tryRepairs } from './repaired-folders.ts';

describe.each(Object.entries(LIVES))('%s', (_, steps) => {
  test('is brought back from its files after a kill took its catalog', async () => {
    expect(await tryRepairs(await recordedLife(steps), kills)).toBeGreaterThan(20);
  });

  test('is brought back from its files after a power loss took its catalog', async () => {
    expect(await tryRepairs(await recordedLife(steps), atEvery(5, drawnPowerLosses()))).toBeGreaterThan(5);
  });
});
