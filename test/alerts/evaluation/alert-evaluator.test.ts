import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AlertEvaluator } from '../../../alerts/evaluation/alert-evaluator.ts';
import { MINUTE_MS } from '../../../query/durations.ts';
import { silentLogger } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { KeeperHere, rulesOf, ruleText } from './evaluated-feed.ts';

const NONE = { at_least: undefined, window: undefined, by: undefined };

/** An evaluator that follows a rule over a store with a clock. */
async function following(text: string, isUpToDate = async () => true, readFails = () => false) {
  const folder = temporaryFolder();
  const clock = { nowMs: NOW };
  const now = () => clock.nowMs;
  const store = await storeIn(folder, { now });
  const keeper = new KeeperHere({ file: join(folder, 'alerts.sqlite'), rules: rulesOf(text), exceptZone: 9 });
  const reads = {
    activeZones: store.activeZones.bind(store),
    readFeed: async (request: Parameters<typeof store.readFeed>[0]) => {
      if (readFails()) throw new Error('the disk does not answer');
      return await store.readFeed(request);
    },
  };
  let queued = 0;
  const onQueued = () => {
    queued += 1;
  };
  const evaluator = new AlertEvaluator({ store, reads, keeper, now, onQueued, logger: silentLogger, isUpToDate, mayFollow: () => true });
  onTestFinished(() => evaluator.stop());
  const append = (zone: number, country = 'DE') =>
    store.append(
      canonicalBatch([{ logId: `${zone} ${country} ${clock.nowMs}`, shieldZoneId: zone, timestamp: clock.nowMs, country, log: {} }]),
    );
  const told = () => keeper.call('waiting', 'mail', { limit: 10, except: [] })?.messages.map(({ alert }) => alert.group[0]?.text) ?? [];
  return { clock, evaluator, append, told, queued: () => queued };
}

const SILENCE = ruleText({ kind: 'silence', for: '5m', ...NONE });

test('a zone that goes silent is told, the zone of alerts is not', async () => {
  const { clock, evaluator, append, told } = await following(SILENCE);
  await expect.poll(() => evaluator.facts?.completeToMs).toBe(NOW);
  clock.nowMs += MINUTE_MS;
  for (const zone of [7, 8, 9]) await append(zone);
  clock.nowMs += 4 * MINUTE_MS;
  await append(8);
  clock.nowMs += 2 * MINUTE_MS;
  await expect.poll(told, { timeout: 10_000 }).toEqual(['7']);
});

test('no zone is silent while events may be on their way', async () => {
  let asked = 0;
  const { clock, evaluator, append, told } = await following(SILENCE, async () => {
    asked += 1;
    return false;
  });
  await expect.poll(() => evaluator.facts?.completeToMs).toBe(NOW);
  clock.nowMs += MINUTE_MS;
  await append(7);
  clock.nowMs += 6 * MINUTE_MS;
  const before = asked;
  await expect.poll(() => asked, { timeout: 10_000 }).toBeGreaterThan(before);
  expect(told()).toEqual([]);
});

test('what cannot be read is told, and counted once it can', async () => {
  let isAway = true;
  const { evaluator, append, told, queued } = await following(
    ruleText({ at_least: 1 }),
    async () => true,
    () => isAway,
  );
  await expect.poll(() => evaluator.notes()).toEqual(['alerts do not get on, and try again: the disk does not answer']);
  isAway = false;
  await expect.poll(() => evaluator.notes(), { timeout: 10_000 }).toEqual([]);
  expect(queued()).toBe(0);
  await append(7);
  await expect.poll(told, { timeout: 10_000 }).toEqual(['DE']);
  await expect.poll(queued).toBe(1);
});
