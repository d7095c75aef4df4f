import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type DatabaseProcess, makeProcessPool } from '../../../../edge/local/database/process-pool.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('the processes of many callers at once are kept for the next ones, and all but two end soon after', async () => {
  let [started, ended] = [0, 0];
  const start = async (): Promise<DatabaseProcess> => {
    started += 1;
    const kill = async () => {
      ended += 1;
    };
    return { isAlive: () => true, kill, open: vi.fn(), close: vi.fn(), run: vi.fn() };
  };
  const pool = makeProcessPool({ maxProcesses: 8, queueMs: 1_000, start, reclaim: () => {} });
  for (let round = 0; round < 3; round += 1) {
    const taken = await Promise.all(Array.from({ length: 8 }, () => pool.take()));
    for (const process of taken) pool.release(process);
  }
  expect([started, ended]).toEqual([8, 0]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([started, ended]).toEqual([8, 6]);
  await Promise.all([pool.take(), pool.take()]);
  expect(started).toBe(8);
});
