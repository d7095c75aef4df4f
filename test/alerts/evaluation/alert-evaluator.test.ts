import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { AlertEvaluator, RuleReader } from '../../../alerts/evaluation/alert-evaluator.ts';
import { HOUR_MS, MINUTE_MS } from '../../../query/durations.ts';
import { type EventStore, silentLogger } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { evaluatedStore, KeeperHere, overviewOf, rulesOf, ruleText } from './evaluated-feed.ts';

const NONE = { at_least: undefined, window: undefined, by: undefined };

interface Surroundings {
  readonly isUpToDate?: () => Promise<boolean>;
  readonly mayFollow?: () => boolean;
  /** Is called behind each read, with the text of what was found, and may throw. */
  readonly behindRead?: (kind: 'readFeed' | 'activeZones', found: string) => void;
}

/** An evaluator that follows a rule over a store with a clock. */
async function following(
  text: string,
  { isUpToDate = async () => true, mayFollow = () => true, behindRead = () => undefined }: Surroundings = {},
) {
  const folder = temporaryFolder();
  const clock = { nowMs: NOW };
  const now = () => clock.nowMs;
  const store = await storeIn(folder, { now });
  const keeper = new KeeperHere({ file: join(folder, 'alerts.sqlite'), rules: rulesOf(text), exceptZone: 9 });
  const reads = {
    activeZones: async (...request: Parameters<typeof store.activeZones>) => {
      const zones = await store.activeZones(...request);
      behindRead('activeZones', zones.map(({ zoneId }) => zoneId).join());
      return zones;
    },
    readFeed: async (...request: Parameters<typeof store.readFeed>) => {
      const page = await store.readFeed(...request);
      behindRead('readFeed', page.lines.map(({ bytes, start, end }) => bytes.toString('utf8', start, end)).join());
      return page;
    },
  };
  let queued = 0;
  const onQueued = () => {
    queued += 1;
  };
  const evaluator = new AlertEvaluator({ store, reads, keeper, now, onQueued, logger: silentLogger, isUpToDate, mayFollow });
  onTestFinished(() => evaluator.stop());
  const append = (zone: number, country = 'DE') =>
    store.append(
      canonicalBatch([{ logId: `${zone} ${country} ${clock.nowMs}`, shieldZoneId: zone, timestamp: clock.nowMs, country, log: {} }]),
    );
  const told = () => keeper.call('waiting', 'mail', { limit: 10, except: [] })?.messages.map(({ alert }) => alert.group[0]?.text) ?? [];
  const hasJoined = () => keeper.call('overview', { limit: 1 }).rules[0]?.hasJoined;
  return { clock, evaluator, append, told, hasJoined, queued: () => queued };
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
  await expect.poll(told).toEqual(['7']);
});

test('no zone is silent while events may be on their way', async () => {
  let asked = 0;
  const { clock, evaluator, append, told } = await following(SILENCE, {
    isUpToDate: async () => {
      asked += 1;
      return false;
    },
  });
  await expect.poll(() => evaluator.facts?.completeToMs).toBe(NOW);
  clock.nowMs += MINUTE_MS;
  await append(7);
  clock.nowMs += 6 * MINUTE_MS;
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before);
  expect(told()).toEqual([]);
});

test('what cannot be read is told, and counted once it can', async () => {
  let isAway = true;
  const { evaluator, append, told, queued } = await following(ruleText({ at_least: 1 }), {
    behindRead: () => {
      if (isAway) throw new Error('the disk does not answer');
    },
  });
  await expect.poll(() => evaluator.notes()).toEqual(['alerts do not get on, and try again: the disk does not answer']);
  isAway = false;
  await expect.poll(() => evaluator.notes()).toEqual([]);
  expect(queued()).toBe(0);
  await append(7);
  await expect.poll(told).toEqual(['DE']);
  await expect.poll(queued).toBe(1);
});

test.each([
  ['events', 'readFeed', ruleText({ at_least: 1 }), 'NL'],
  ['zones', 'activeZones', SILENCE, '7'],
] as const)('where another program follows rules once %s are read, nothing is told of it', async (_, longRead, text, group) => {
  let [isHeld, isLong, asked] = [true, false, 0];
  const { clock, append, told, hasJoined } = await following(text, {
    mayFollow: () => {
      if (!isHeld) asked += 1;
      return isHeld;
    },
    behindRead: (kind, found) => {
      if (isLong && kind === longRead && found.includes(group)) [isHeld, isLong] = [false, false];
    },
  });
  await expect.poll(hasJoined).toBe(true);
  clock.nowMs += MINUTE_MS;
  await append(7);
  clock.nowMs += 6 * MINUTE_MS;
  isLong = true;
  await append(8, 'NL');
  // It asks behind the read, and then before each one.
  await expect.poll(() => asked).toBeGreaterThan(1);
  expect(told()).not.toContain(group);
  isHeld = true;
  clock.nowMs += MINUTE_MS;
  await expect.poll(told).toContain(group);
});

test.each([
  [false, {}],
  [true, { unknown: 1, last: 'unknown' }],
] as const)(
  'a cursor that the store refuses changes what rules know only while no other program follows them: %s',
  async (mayFollow, refusals) => {
    const { append, run, file } = await evaluatedStore();
    await append(2);
    await run([ruleText()]);
    const keeper = new KeeperHere({ file, rules: rulesOf(ruleText()) });
    const another = await storeIn(temporaryFolder(), { now: () => NOW });
    const reader = new RuleReader({
      store: another,
      reads: another,
      keeper,
      mayFollow: () => mayFollow,
      now: () => NOW,
      logger: silentLogger,
    });
    const { wanted } = keeper.call('next');
    if (wanted !== null) await reader.step(wanted);
    expect(overviewOf(keeper).facts.refusals).toEqual(refusals);
  },
);

describe('the limit of pages', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** A reader whose pages take so long to be counted. The wall clock is set on or back by an hour meanwhile. */
  function timed({ store, here, took }: { store: Pick<EventStore, 'readFeed' | 'positions'>; here: KeeperHere; took: { ms: number } }) {
    const limits: number[] = [];
    let nowMs = NOW;
    const takePage: KeeperHere['takePage'] = (...page) => {
      vi.advanceTimersByTime(took.ms);
      nowMs += limits.length % 2 === 0 ? HOUR_MS : -HOUR_MS;
      return here.takePage(...page);
    };
    const readFeed: EventStore['readFeed'] = (request, options) => {
      limits.push(request.limit);
      return store.readFeed(request, options);
    };
    const keeper = { next: here.next, refuse: here.refuse, takePage };
    const reader = new RuleReader({ store, reads: { readFeed }, keeper, mayFollow: () => true, now: () => nowMs, logger: silentLogger });
    return { reader, limits };
  }

  test('is doubled by pages that are at least half full and quick, and halved by slow ones', async () => {
    const { store, file, append, run } = await evaluatedStore();
    await run([ruleText()]);
    const here = new KeeperHere({ file, rules: rulesOf(ruleText()) });
    const took = { ms: 0 };
    const { reader, limits } = timed({ store, here, took });
    const pages: readonly (readonly [events: number, tookMs: number, limit: number])[] = [
      [0, 0, 1_250],
      [1, 0, 1_250],
      [624, 0, 1_250],
      [625, 249, 1_250],
      [2_500, 250, 2_500],
      [2_500, 249, 2_500],
      [2_499, 0, 5_000],
      [5_000, 1_000, 5_000],
      [5_000, 1_001, 5_000],
      [1, 1_001, 2_500],
      [0, 0, 1_250],
      [625, 0, 1_250],
      [2_500, 0, 2_500],
      [5_000, 0, 5_000],
      [10_000, 0, 10_000],
      [20_000, 0, 20_000],
      [0, 0, 20_000],
      ...[20_000, 10_000, 5_000, 2_500, 1_250, 625, 312, 156, 100, 100].map((limit) => [0, 1_001, limit] as const),
    ];
    let { wanted } = here.call('next');
    for (const [events, tookMs] of pages) {
      took.ms = tookMs;
      if (events > 0) await append(events);
      if (wanted !== null) ({ wanted } = (await reader.step(wanted)).step);
    }
    expect(limits).toEqual(pages.map(([, , limit]) => limit));
  });

  test('is one of its own for each of two sets of rules that take turns', async () => {
    const { store, file, append, run } = await evaluatedStore();
    await run([ruleText()]);
    await append(3_000);
    await run([ruleText()]);
    // The new rule reads back what the other one has counted.
    const here = new KeeperHere({ file, rules: rulesOf(ruleText(), ruleText({ name: 'reads-back' })) });
    const took = { ms: 0 };
    const { reader, limits } = timed({ store, here, took });
    let { wanted } = here.call('next');
    const turns: (string | number)[] = [];
    for (const comes of [0, 1_250, 0, 2_500, 0, 5_000]) {
      const isBack = typeof wanted?.until === 'string';
      took.ms = isBack ? 1_001 : 0;
      if (comes > 0) await append(comes);
      if (wanted !== null) ({ wanted } = (await reader.step(wanted)).step);
      turns.push(isBack ? 'back' : 'on', limits.at(-1) ?? 0);
    }
    expect(turns).toEqual(['back', 1_250, 'on', 1_250, 'back', 625, 'on', 2_500, 'back', 312, 'on', 5_000]);
  });
});
