import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Dimension } from '../../../../query/event-fields.ts';
import type { SearchPlan } from '../../../../query/plan/search-plan.ts';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import type { StoreOptions, StoreTuning } from '../../../../store/embedded/store-options.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { RETENTION_MS, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW, rowsPlan } from '../stored-events.ts';

const ACTIONS = ['blocked', 'logged', 'challenged'];
const FIRST = NOW - 60 * HOUR;
const LIMITS = { budgetBytes: 1_000_000, maxGroups: 100 };

/** `count` events, one a minute, the first of them in minute `from`. */
function minutes(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => {
    const minute = from + index;
    const fields = {
      ip: `192.0.2.${minute % 7}`,
      ruleId: `${minute % 5},x`,
      country: minute % 2 === 0 ? 'DE' : 'FR',
      asn: `${minute % 3}`,
    };
    return event(`e${minute}`, FIRST + minute * 60_000, {
      ...fields,
      action: ACTIONS[minute % 3],
      ...(minute % 4 === 0 && { feature: 'waf' }),
    });
  });
}

function groupsPlan(
  by: readonly Dimension[],
  buckets: number,
  fromMinute: number,
  toMinute: number,
  more: Partial<SearchPlan> = {},
): SearchPlan {
  const window = { fromMs: FIRST + fromMinute * 60_000, toMs: FIRST + toMinute * 60_000 };
  return rowsPlan({ output: { kind: 'groups', by, buckets }, window, page: { index: 0, size: 5 }, ...more });
}

async function flushedStore(dataDir: string, events: number, options: Partial<StoreOptions> & StoreTuning = {}): Promise<OpenStore> {
  const store = await embeddedStoreIn(dataDir, options);
  await store.append(canonicalBatch(minutes(0, events)));
  await store.flushNow();
  return store;
}

/** The answer of a store with the same events that caches nothing. */
async function readAnew(events: number, plan: SearchPlan) {
  const store = await flushedStore(temporaryFolder(), events, { cachesCounts: false });
  return await store.search(plan);
}

/** Makes every segment that is there now unreadable. */
function removeSegments(dataDir: string): void {
  for (const folder of ['segments', 'links'].map((name) => join(dataDir, name))) {
    for (const file of readdirSync(folder)) {
      rmSync(join(folder, file));
    }
  }
}

test.each([
  ['groups by one dimension', groupsPlan(['action'], 0, -60, 3_000)],
  ['groups with sparklines', groupsPlan(['ip'], 17, -60, 3_000)],
  ['groups with something missing', groupsPlan(['feature', 'country'], 7, -60, 3_000)],
  ['a later page', groupsPlan(['ip'], 3, -60, 3_000, { page: { index: 1, size: 5 } })],
  ['a page behind the last', groupsPlan(['ip'], 3, -60, 3_000, { page: { index: 9, size: 5 } })],
  [
    'groups that a filter leaves',
    groupsPlan(['asn'], 5, -60, 3_000, { where: { kind: 'equals', column: 'ip', values: ['192.0.2.3'], folded: false } }),
  ],
])('a search that was made twice reads no segment any more: %s', async (_, plan) => {
  const dataDir = temporaryFolder();
  const store = await flushedStore(dataDir, 1_000);
  const answer = await readAnew(1_000, plan);
  expect(await store.search(plan)).toEqual(answer);
  expect(await store.search(plan)).toEqual(answer);
  removeSegments(dataDir);
  expect(await store.search(plan)).toEqual(answer);
});

test('groups with tens of thousands of values are read once, too, and new events are added to them', async () => {
  const dataDir = temporaryFolder();
  const plan = groupsPlan(['action'], 60, -60, 3_000);
  const values = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      event(`${prefix}${index}`, FIRST + index * 1_000, {
        action: ACTIONS[index % 3],
        asn: `${index % 29_000}`,
        ruleId: `r${index % 400}`,
      }),
    );
  const [flushed, beside] = [values('a', 30_000), values('b', 300)];
  const answers = [];
  for (const events of [flushed, [...flushed, ...beside]]) {
    const other = await embeddedStoreIn(temporaryFolder(), { cachesCounts: false });
    await other.append(canonicalBatch(events));
    answers.push(await other.search(plan));
  }
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch(flushed));
  await store.flushNow();
  for (let time = 0; time < 2; time += 1) expect(await store.search(plan)).toEqual(answers[0]);
  removeSegments(dataDir);
  expect(await store.search(plan)).toEqual(answers[0]);
  await store.append(canonicalBatch(beside));
  expect(await store.search(plan)).toEqual(answers[1]);
});

test('groups whose values have more characters than are kept are read each time', async () => {
  const dataDir = temporaryFolder();
  const plan = groupsPlan(['action'], 0, -60, 3_000);
  const events = Array.from({ length: 10_000 }, (_, index) =>
    event(`a${index}`, FIRST + index * 1_000, { action: 'logged', asn: `${index}${'x'.repeat(900)}` }),
  );
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch(events));
  await store.flushNow();
  for (let time = 0; time < 3; time += 1) await store.search(plan);
  removeSegments(dataDir);
  await store.search(plan);
  expect(await store.stats()).toMatchObject({ unreadableEvents: 10_000 });
});

test('a window that moves over the same segments reads none of them, and its sparkline moves with it', async () => {
  const dataDir = temporaryFolder();
  const store = await flushedStore(dataDir, 1_000);
  const plans = [0, 1, 7, 30].map((moved) => groupsPlan(['country', 'action'], 60, -60 + moved, 1_500 + moved));
  const answers = await Promise.all(plans.map((plan) => readAnew(1_000, plan)));
  await store.search(plans[0] as SearchPlan);
  await store.search(plans[1] as SearchPlan);
  removeSegments(dataDir);
  for (const [index, plan] of plans.entries()) {
    expect(await store.search(plan)).toEqual(answers[index]);
  }
});

test.each([
  ['made once', 1, {}],
  ['of a store that caches nothing', 3, { cachesCounts: false }],
  ['with too many groups', 3, { groupByCacheLimits: { ...LIMITS, maxGroups: 6 } }],
  ['whose groups find no room', 3, { groupByCacheLimits: { ...LIMITS, budgetBytes: 100 } }],
])('a search %s reads its segments', async (_, times, options) => {
  const dataDir = temporaryFolder();
  const plan = groupsPlan(['ip'], 10, -60, 3_000);
  const store = await flushedStore(dataDir, 1_000, options);
  const answer = await readAnew(1_000, plan);
  for (let time = 0; time < times; time += 1) {
    expect(await store.search(plan)).toEqual(answer);
  }
  removeSegments(dataDir);
  await store.search(plan);
  expect(await store.stats()).toMatchObject({ unreadableEvents: 1_000 });
});

test('where the details of a page find no room, its groups are counted from memory all the same', async () => {
  const dataDir = temporaryFolder();
  const plan = groupsPlan(['ip'], 10, -60, 3_000);
  const store = await flushedStore(dataDir, 1_000, { groupByCacheLimits: { ...LIMITS, budgetBytes: 1_000 } });
  const answer = await readAnew(1_000, plan);
  for (let time = 0; time < 3; time += 1) {
    expect(await store.search(plan)).toEqual(answer);
  }
  removeSegments(dataDir);
  const behindAll = { ...plan, page: { index: 9, size: 5 } };
  expect(await store.search(behindAll)).toEqual({ kind: 'groups', groups: [], total: 7 });
});

test('of events that were flushed since only those are read, and these once', async () => {
  const dataDir = temporaryFolder();
  const plan = groupsPlan(['ip'], 10, -60, 3_000);
  const store = await flushedStore(dataDir, 1_000);
  await store.search(plan);
  await store.search(plan);
  removeSegments(dataDir);
  await store.append(canonicalBatch(minutes(1_000, 300)));
  const answer = await readAnew(1_300, plan);
  expect(await store.search(plan)).toEqual(answer);
  await store.flushNow();
  expect(await store.search(plan)).toEqual(answer);
  expect(await store.search(plan)).toEqual(answer);
  removeSegments(dataDir);
  expect(await store.search(plan)).toEqual(answer);
});

test('a segment that the window has come to cut is read', async () => {
  const dataDir = temporaryFolder();
  const store = await flushedStore(dataDir, 1_000);
  const whole = groupsPlan(['ip'], 10, -60, 3_000);
  await store.search(whole);
  await store.search(whole);
  for (const cut of [groupsPlan(['ip'], 10, 1, 3_000), groupsPlan(['ip'], 10, -60, 999), groupsPlan(['ip'], 10, 400, 600)]) {
    expect(await store.search(cut)).toEqual(await readAnew(1_000, cut));
  }
});

/** The step of windows of 55 hours, in minutes. */
const STEP = 2 ** 23 / 60_000;

test('what a segment has behind the next step of a window that cuts it is read no more', async () => {
  const dataDir = temporaryFolder();
  const store = await flushedStore(dataDir, 3_000);
  const step = (Math.ceil((FIRST + 100 * 60_000) / (STEP * 60_000)) * STEP * 60_000 - FIRST) / 60_000;
  const plans = [-20, -5, -1, 0].map((before) => groupsPlan(['ip', 'action'], 10, step + before, 3_300 + step + before));
  const answers = await Promise.all(plans.map((plan) => readAnew(3_000, plan)));
  for (const [index, plan] of [...plans, ...plans].entries()) {
    expect(await store.search(plan)).toEqual(answers[index % plans.length]);
  }
  removeSegments(dataDir);
  expect(await store.search(plans.at(-1) as SearchPlan)).toEqual(answers.at(-1));
  expect(await store.stats()).toMatchObject({ unreadableEvents: 0 });
  await store.search(plans[0] as SearchPlan);
  expect(await store.stats()).toMatchObject({ unreadableEvents: 3_000 });
});

test('windows of several lengths and positions in turn are answered from the segments that lie in each', async () => {
  const [store, other] = await Promise.all([
    flushedStore(temporaryFolder(), 3_000),
    flushedStore(temporaryFolder(), 3_000, { cachesCounts: false }),
  ]);
  const windows = [0, 360, 720, 1_080].flatMap((from) => [from + 1_500, from + 1_900].map((to) => groupsPlan(['ip'], 10, from, to)));
  for (const plan of [...windows, ...windows, ...windows, ...windows.toReversed(), ...windows]) {
    expect(await store.search(plan)).toEqual(await other.search(plan));
  }
});

test('searches at the same time, of more than finds room, see every event once while all is flushed and merged', async () => {
  const store = await embeddedStoreIn(temporaryFolder(), { groupByCacheLimits: { budgetBytes: 60_000, maxGroups: 100 } });
  const plans = [groupsPlan(['ip'], 10, -60, 3_000), groupsPlan(['ip', 'action'], 10, -60, 3_000), groupsPlan(['asn'], 0, -60, 3_000)];
  const answers = await Promise.all(plans.map((plan) => readAnew(1_000, plan)));
  const parts = Array.from({ length: 10 }, (_, part) => canonicalBatch(minutes(part * 100, 100)));
  for (const part of parts) {
    await store.append(part);
    await store.flushNow();
  }
  let isDone = false;
  const merging = (async () => {
    for (let time = 0; time < 10; time += 1) {
      await store.compactNow();
      await Promise.all(plans.map((plan) => store.search(plan)));
    }
    isDone = true;
  })();
  const searching = plans.flatMap((plan, index) =>
    [1, 2, 3].map(async () => {
      while (!isDone) {
        expect(await store.search(plan)).toEqual(answers[index]);
      }
    }),
  );
  await Promise.all([merging, ...searching]);
  expect((await store.stats()).segments).toBeLessThan(10);
});

test('what was in a segment that has expired is in no answer any more', async () => {
  let now = NOW;
  const store = await embeddedStoreIn(temporaryFolder(), { now: () => now });
  await store.append(canonicalBatch([...minutes(0, 100), event('young', NOW, { ip: '192.0.2.1' })]));
  await store.flushNow();
  const plan = groupsPlan(['ip'], 10, -60, 9_000);
  for (let time = 0; time < 3; time += 1) {
    expect(await store.search(plan)).toMatchObject({ total: 7 });
  }
  now = FIRST + RETENTION_MS + 3 * HOUR;
  await store.dropExpiredNow();
  expect(await store.stats()).toMatchObject({ events: 1 });
  expect(await store.search(plan)).toMatchObject({ total: 1, groups: [{ key: { ip: '192.0.2.1' }, count: 1 }] });
});
