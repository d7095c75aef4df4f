import { expect, onTestFinished, test } from 'vitest';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { ThreadPolicy } from '../../../../store/embedded/duckdb/thread-policy.ts';
import { SearchActivity } from '../../../../store/embedded/runtime/search-activity.ts';
import { silentLogger } from '../../../../store/store-logger.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

/**
 * `mainThreadUse` is what the main thread is said to be busy with. The clock stands still but for what a test sets it forward by; that
 * cores are given back by themselves is timed by the real one.
 */
async function engineWithPolicy(cores: number, { mainThreadUse = 0.2, idleMs = 60_000 } = {}) {
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: cores });
  const [connection, other] = [await engine.connect(), await engine.connect()];
  const threads = async () => Number((await other.runAndReadAll("SELECT current_setting('threads')")).getRows()[0]?.[0]);
  const clock = { ms: 0 };
  const now = () => clock.ms;
  const searches = new SearchActivity(now);
  const policy = new ThreadPolicy({ connection, cores, searches, idleMs, mainThreadUse: () => mainThreadUse, now, logger: silentLogger });
  onTestFinished(() => policy.stop());
  return { policy, threads, clock };
}

const nothing = () => Promise.resolve();
const soon = { interval: 1 };

test.each([
  [1, 1],
  [2, 1],
  [4, 2],
  [8, 6],
])('with %d cores a query has %d threads while events come in bulk, and every core again soon after', async (cores, inBulk) => {
  const { policy, threads } = await engineWithPolicy(cores, { idleMs: 1_000 });
  policy.load(3_000);
  expect(await threads()).toBe(cores);
  policy.load(1_000);
  await expect.poll(threads, soon).toBe(inBulk);
  await expect.poll(threads).toBe(cores);
});

test('loads one after the other keep it at that', async () => {
  const { policy, threads } = await engineWithPolicy(4);
  policy.load(4_000);
  await expect.poll(threads, soon).toBe(2);
  for (let load = 0; load < 20; load += 1) {
    policy.load(4_000);
    expect(await threads()).toBe(2);
  }
  await policy.stop();
  expect(await threads()).toBe(2);
});

test('a search gets every core, also while events come in bulk, and keeps them when more come', async () => {
  const { policy, threads } = await engineWithPolicy(4);
  policy.load(4_000);
  await expect.poll(threads, soon).toBe(2);
  await policy.forSearch(async () => {
    await expect.poll(threads, soon).toBe(4);
    policy.load(4_000);
    expect(await threads()).toBe(4);
  });
  // Whoever searched may search again.
  policy.load(4_000);
  expect(await threads()).toBe(4);
});

test('the next loads take the cores back when nobody has searched for a while', async () => {
  const { policy, threads, clock } = await engineWithPolicy(4);
  await policy.forSearch(nothing);
  clock.ms += 59_999;
  policy.load(4_000);
  expect(await threads()).toBe(4);
  clock.ms += 1;
  const loading = async () => {
    policy.load(4_000);
    return await threads();
  };
  await expect.poll(loading, soon).toBe(2);
});

test('a search that fails counts as over', async () => {
  const { policy, threads, clock } = await engineWithPolicy(4);
  await expect(policy.forSearch(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  clock.ms += 60_000;
  const loading = async () => {
    policy.load(4_000);
    return await threads();
  };
  await expect.poll(loading, soon).toBe(2);
});

test('while events come in at full speed a search has no more threads than a flush', async () => {
  const { policy, threads, clock } = await engineWithPolicy(4, { mainThreadUse: 0.9 });
  const loading = async () => {
    policy.load(4_000);
    clock.ms += 100;
    return await threads();
  };
  await loading();
  await expect.poll(threads, soon).toBe(2);
  await policy.forSearch(async () => {
    await expect.poll(threads, soon).toBe(4);
    // Once a second of it has passed.
    await expect.poll(loading, soon).toBe(2);
    for (let load = 0; load < 20; load += 1) {
      expect(await loading()).toBe(2);
    }
  });
});

test('what the main thread was busy with before events came in is no full speed', async () => {
  const { policy, threads, clock } = await engineWithPolicy(4, { mainThreadUse: 0.9 });
  for (let load = 0; load < 3; load += 1) {
    policy.load(4_000);
    clock.ms += 300;
  }
  await policy.forSearch(async () => {
    await expect.poll(threads, soon).toBe(4);
  });
});
