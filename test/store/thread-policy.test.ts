import { expect, test } from 'vitest';
import { startEngine } from '../../store/duckdb-engine.ts';
import { silentLogger } from '../../store/store-logger.ts';
import { ThreadPolicy } from '../../store/thread-policy.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';

async function engineWithPolicy(cores: number) {
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: cores });
  const [connection, other] = [await engine.connect(), await engine.connect()];
  const threads = async () => Number((await other.runAndReadAll("SELECT current_setting('threads')")).getRows()[0]?.[0]);
  return { policy: new ThreadPolicy({ connection, cores, quietMs: 1_000, logger: silentLogger }), threads };
}

test.each([
  [1, 1],
  [2, 1],
  [4, 2],
  [8, 6],
])('with %d cores a query has %d threads while events come in bulk, and every core again soon after', async (cores, inBulk) => {
  const { policy, threads } = await engineWithPolicy(cores);
  policy.load(3_000);
  expect(await threads()).toBe(cores);
  policy.load(1_000);
  await expect.poll(threads, { interval: 1, timeout: 10_000 }).toBe(inBulk);
  await expect.poll(threads, { timeout: 10_000 }).toBe(cores);
  await policy.stop();
});

test('loads one after the other keep it at that', async () => {
  const { policy, threads } = await engineWithPolicy(4);
  policy.load(4_000);
  await expect.poll(threads, { interval: 1, timeout: 10_000 }).toBe(2);
  for (let load = 0; load < 20; load += 1) {
    policy.load(4_000);
    expect(await threads()).toBe(2);
  }
  await policy.stop();
  expect(await threads()).toBe(2);
});
