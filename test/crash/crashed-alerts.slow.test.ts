import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import './recorded-calls.ts';
import { HOUR_MS, MINUTE_MS } from '../../query/durations.ts';
import type { EventStore } from '../../store/event-store.ts';
import { evaluate, KeeperHere, keptIn, rulesOf, ruleText } from '../alerts/evaluation/evaluated-feed.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { NOW } from '../fixtures/present.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { withFolder } from '../property/filled-store.ts';
import { embeddedStoreIn } from '../store/embedded/embedded-store-in.ts';
import { KILL, TriedFolders } from './crash.ts';
import { Disk, writeFolder } from './left-folder.ts';
import { Recording } from './recording.ts';

const FILE = 'alerts.sqlite';
const RULES = [
  ruleText({ name: 'counted', hold: 2 }),
  ruleText({ name: 'distinct', kind: 'distinct', field: 'ip', by: '[]', window: '1h', max_groups: 2 }),
  ruleText({ name: 'new', kind: 'new_value', field: 'country', for: '1h', at_least: undefined, window: undefined, by: undefined }),
];

interface Life {
  readonly store: EventStore;
  readonly dataDir: string;
  /** Counts what came so far. */
  run(texts: readonly string[]): Promise<void>;
  append(count: number): Promise<void>;
  /** Time goes by. */
  pass(ms: number): void;
}

/** Records what the state of alerts is in between, from the second step on. Each step ends with all counted that there is. */
async function recorded(before: (life: Life) => Promise<void>, life: (life: Life) => Promise<void>) {
  const root = temporaryFolder();
  const dataDir = join(root, 'data');
  mkdirSync(dataDir);
  let nowMs = NOW;
  let sent = 0;
  const store = await embeddedStoreIn(temporaryFolder(), { now: () => nowMs });
  const self: Life = {
    store,
    dataDir,
    run: (texts) => run(store, dataDir, texts),
    append: async (count) => {
      const events = Array.from({ length: count }, () => {
        sent += 1;
        const timestamp = nowMs - (sent % 3) * 4 * MINUTE_MS;
        return { logId: `event-${sent}`, shieldZoneId: 7, timestamp, country: `C${sent % 3}`, ip: `192.0.2.${sent % 5}`, log: {} };
      });
      await store.append(canonicalBatch(events));
    },
    pass: (ms) => {
      nowMs += ms;
    },
  };
  await before(self);
  const recording = new Recording(root, dataDir);
  await life(self);
  recording.end();
  return { store, dataDir, recording };
}

async function run(store: EventStore, folder: string, texts: readonly string[]): Promise<void> {
  const keeper = new KeeperHere({ file: join(folder, FILE), rules: rulesOf(...texts), alsoTo: ['$zone'] });
  await evaluate({ keeper, store, limit: () => 1 });
}

/** Kills the program after each operation, and lets the next one count the rest. Resolves with the number of different folders. */
async function killEverywhere({ store, dataDir, recording }: Awaited<ReturnType<typeof recorded>>, texts: readonly string[]) {
  const expected = keptIn(join(dataDir, FILE));
  const tried = new TriedFolders();
  const disk = new Disk();
  const truth = { nowMs: NOW, acknowledged: new Map(), underWay: [], mayBeGone: new Set<string>(), offset: undefined };
  for (const [index, operation] of recording.operations.entries()) {
    disk.apply(operation);
    const left = disk.left(KILL);
    if (!left.has(join('data', FILE)) || !tried.add(left, truth)) continue;
    await withFolder(async (folder) => {
      writeFolder(folder, left);
      await run(store, join(folder, 'data'), texts);
      expect(keptIn(join(folder, 'data', FILE)), `after operation ${index + 1}`).toEqual(expected);
    });
  }
  return { tried: tried.count, expected };
}

test('a kill after any operation of a program that counts makes the same alerts and messages, each once', async () => {
  const life = await recorded(
    ({ run: start }) => start(RULES),
    async ({ append, run: start, pass }) => {
      for (const step of [1, 4, 2, 3, 5, 1, 4]) {
        await append(step);
        await start(RULES);
        pass(20 * MINUTE_MS);
      }
      pass(HOUR_MS);
      await start(RULES);
    },
  );
  const { tried, expected } = await killEverywhere(life, RULES);
  expect(tried).toBeGreaterThan(20);
  expect(expected['messages']?.length).toBeGreaterThan(8);
});

test('a kill after any operation of a start at which rules are gone, changed and new leaves the next start to do the same', async () => {
  const others = [ruleText({ name: 'counted', at_least: 3 }), RULES[2] ?? '', ruleText({ name: 'later', at_least: 1, by: '[]' })];
  const life = await recorded(
    async ({ append, run: start }) => {
      await start(RULES);
      await append(6);
      await start(RULES);
      await append(5);
    },
    ({ run: start }) => start(others),
  );
  const { tried, expected } = await killEverywhere(life, others);
  expect(tried).toBeGreaterThan(8);
  expect(JSON.stringify(expected['messages'])).toContain('rule_changed');
});
