import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../query/durations.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { evaluate, KeeperHere, rulesOf, ruleText } from './evaluated-feed.ts';

test('rules that begin while others go on read back what they compare with, and what is new there is no hit', async () => {
  const folder = temporaryFolder();
  let nowMs = NOW;
  const store = await storeIn(folder, { now: () => nowMs });
  const append = (country: string) =>
    store.append(canonicalBatch([{ logId: `${country} ${nowMs}`, shieldZoneId: 7, timestamp: nowMs, country, log: {} }]));
  const rulesAfter = async (...texts: readonly string[]) => {
    const keeper = new KeeperHere({ file: join(folder, 'alerts.sqlite'), rules: rulesOf(...texts) });
    await evaluate({ keeper, store });
    return keeper.call('overview', { limit: 1 }).rules.map(({ name, counted, open }) => [name, counted, open]);
  };
  const first = ruleText({ at_least: 100 });
  await rulesAfter(first);
  await append('NL');
  nowMs += 2 * HOUR_MS;
  await append('FR');
  nowMs += 5 * MINUTE_MS;
  expect(await rulesAfter(first)).toEqual([['a-rule', 2, 0]]);
  const ofWindows = ruleText({ name: 'of-windows', at_least: 100 });
  const ofValues = ruleText({
    ...{ name: 'of-values', kind: 'new_value', field: 'country', for: '1h' },
    ...{ at_least: undefined, window: undefined, by: undefined },
  });
  // The windows of ten minutes and the values of an hour had the last event.
  expect(await rulesAfter(first, ofWindows, ofValues)).toEqual([
    ['a-rule', 2, 0],
    ['of-windows', 1, 0],
    ['of-values', 1, 0],
  ]);
  await append('NL');
  expect((await rulesAfter(first, ofWindows, ofValues)).at(-1)).toEqual(['of-values', 2, 1]);
});
