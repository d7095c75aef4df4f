import { expect, onTestFinished, test } from 'vitest';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { ThreadPolicy } from '../../../../store/embedded/duckdb/thread-policy.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

/**
 * `mainThreadUse` is the share of time in which the main thread counts as busy. The clock stands still until a test moves it; the timer
 * that gives cores back is a real one.
 */
async function engineWithPolicy(cores: number, { mainThreadUse = 0.2, idleMs = 60_000 } = {}) {
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: cores });
  const [connection, other] = [await engine.connect(), await engine.connect()];
  const threads = async () => Number((await other.runAndReadAll("SELECT current_setting('threads')")).getRows()[0]?.[0]);
  const runner = new StatementRunner(connection);
  const clock = { ms: 0 };
  const now = () => clock.ms;
  const policy = new ThreadPolicy({ runner, cores, idleMs, mainThreadUse: () => mainThreadUse, now, logger: silentLogger });
  onTestFinished(() => policy.stop());
  return { policy, threads, clock };
}

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
  const search = policy.beginSearch();
  await expect.poll(threads, soon).toBe(4);
  policy.load(4_000);
  expect(await threads()).toBe(4);
  search[Symbol.dispose]();
  // Somebody who has searched may search again.
  policy.load(4_000);
  expect(await threads()).toBe(4);
});

test('the next loads take the cores back when nobody has searched for a while', async () => {
  const { policy, threads, clock } = await engineWithPolicy(4);
  policy.beginSearch()[Symbol.dispose]();
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

test('while events come in at full speed a search has no more threads than a flush', async () => {
  const { policy, threads, clock } = await engineWithPolicy(4, { mainThreadUse: 0.9 });
  const loading = async () => {
    policy.load(4_000);
    clock.ms += 100;
    return await threads();
  };
  await loading();
  await expect.poll(threads, soon).toBe(2);
  policy.beginSearch();
  await expect.poll(threads, soon).toBe(4);
  // Once a second of the clock has passed.
  await expect.poll(loading, soon).toBe(2);
  for (let load = 0; load < 20; load += 1) {
    expect(await loading()).toBe(2);
  }
});

test('what the main thread was busy with before events came in is no full speed', async () => {
  const { policy, threads, clock } = await engineWithPolicy(4, { mainThreadUse: 0.9 });
  for (let load = 0; load < 3; load += 1) {
    policy.load(4_000);
    clock.ms += 300;
  }
  policy.beginSearch();
  await expect.poll(threads, soon).toBe(4);
});
