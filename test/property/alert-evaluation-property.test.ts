import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import { evaluate, KeeperHere, keptIn, rulesOf, ruleText } from '../alerts/evaluation/evaluated-feed.ts';
import { storeRuns, type TestStore } from '../fixtures/test-store.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { appendEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';

const NO_WINDOWS = { at_least: undefined, window: undefined, by: undefined };

/** Members of rules: their kinds, groups, conditions that the store knows and does not, zones, and short and long windows. */
const rule = fc
  .record({
    kind: fc.constantFrom<Readonly<Record<string, string | number | undefined>>>(
      { kind: 'count', at_least: 2 },
      { kind: 'count', at_least: 1 },
      { kind: 'distinct', field: 'ip', at_least: 2 },
      { kind: 'ratio', part: 'action:blocked', share: '50%', at_least: 2 },
      { kind: 'more_than_before', at_least: 2, times: 2, before: 2 },
      { kind: 'new_value', field: 'country', for: '1h', ...NO_WINDOWS },
    ),
    windows: fc.record({
      by: fc.constantFrom('[]', 'country', '[shieldZoneId, country]'),
      window: fc.constantFrom('1m', '10m', '6h'),
      hold: fc.constantFrom(1, 2),
      late: fc.constantFrom('0s', '1h', '24h'),
    }),
    others: fc.record({
      search: fc.constantFrom('""', 'action:blocked', '"url:~a"', '"-country:DE"'),
      zones: fc.constantFrom('all', '7', '[7, 8]'),
      quiet: fc.constantFrom('1m', '30m', '24h'),
      max_groups: fc.constantFrom(2, 3, 5_000),
    }),
  })
  .map(({ kind, windows, others }) => ({ ...(kind['kind'] !== 'new_value' && windows), ...others, ...kind }));

const event = fc.record(
  {
    shieldZoneId: fc.constantFrom(7, 8, 9),
    agoMs: fc.oneof(fc.nat(2 * MINUTE_MS), fc.nat(40 * MINUTE_MS), fc.nat(60 * HOUR_MS)),
    logId: fc.nat(40).map(String),
    action: fc.constantFrom('blocked', 'logged'),
    country: fc.constantFrom('DE', 'NL', ''),
    ip: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
    url: fc.constantFrom('/a', '/b'),
  },
  { requiredKeys: ['shieldZoneId', 'agoMs'] },
);

const life = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
  /** The number of the rules that are there from the begin on; the others come later, when the program starts anew. */
  first: fc.integer({ min: 1, max: 4 }),
  batches: fc.array(
    fc.record({
      events: fc.array(event, { maxLength: 25 }),
      // Rules that come later begin at the time that is written, which is once a minute.
      stepMs: fc.constantFrom(0, MINUTE_MS, HOUR_MS, 26 * HOUR_MS),
      settle: fc.constantFrom('none', 'flush', 'merge'),
      /** Whether the live program reads behind the batch. */
      isRead: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  seed: fc.integer(),
});

type Life = typeof life extends fc.Arbitrary<infer One> ? One : never;

/** Programs in a folder that follow the same rules, each with a state of its own. */
class Programs {
  readonly #folder: string;
  readonly #store: TestStore;
  readonly #random: SeededRandom;

  constructor(folder: string, store: TestStore, seed: number) {
    this.#folder = folder;
    this.#store = store;
    this.#random = new SeededRandom(seed);
  }

  begin(name: string, texts: readonly string[]): KeeperHere {
    return new KeeperHere({ file: this.#fileOf(name), rules: rulesOf(...texts) });
  }

  async run(keeper: KeeperHere): Promise<void> {
    await evaluate({ keeper, store: this.#store });
  }

  /** Reads short pages, and is killed behind many of them. */
  async runKilled(name: string, texts: readonly string[]): Promise<void> {
    const cut = { store: this.#store, limit: () => 1 + this.#random.below(7), isKilled: () => this.#random.below(3) === 0 };
    while (await evaluate({ ...cut, keeper: this.begin(name, texts) }));
  }

  kept(name: string): ReturnType<typeof keptIn> {
    return keptIn(this.#fileOf(name));
  }

  #fileOf(name: string): string {
    return join(this.#folder, `${name}.sqlite`);
  }
}

async function tryLife({ rules, first, batches, seed }: Life, folder: string): Promise<void> {
  const texts = rules.map((members, nth) => ruleText({ ...members, name: `rule-${nth}` }));
  const begun = texts.slice(0, first);
  let nowMs = NOW_MS;
  const store = await openStoreIn(folder, { now: () => nowMs });
  try {
    const programs = new Programs(folder, store, seed);
    for (const name of ['live', 'killed', 'replayed']) await programs.run(programs.begin(name, begun));
    const live = programs.begin('live', begun);
    for (const { events, stepMs, settle, isRead } of batches) {
      const sent = events.map(({ agoMs, ...one }) => ({ ...one, timestamp: nowMs - agoMs, log: {} }));
      await appendEvents(store, sent, nowMs);
      if (settle !== 'none') await store.settle(settle);
      if (isRead) await programs.run(live);
      nowMs += stepMs;
    }
    await programs.run(live);
    // The rules that come later read what is stored already.
    for (const given of [begun, texts]) {
      await programs.run(programs.begin('live', given));
      await programs.run(programs.begin('replayed', given));
      await programs.runKilled('killed', given);
      const expected = programs.kept('live');
      expect(programs.kept('replayed')).toEqual(expected);
      expect(programs.kept('killed')).toEqual(expected);
    }
  } finally {
    await store.close();
  }
}

test('live, killed again and again, or replayed, in pages cut anywhere, rules tell the same alerts and know the same', async () => {
  const property = fc.asyncProperty(life, (one) => withFolder((folder) => tryLife(one, folder)));
  await assertAsyncProperty(property, { numRuns: storeRuns(propertyRuns(30)) });
});
