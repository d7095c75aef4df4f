import { expect, onTestFinished, test } from 'vitest';
import { ConnectionPool } from '../../../../store/embedded/duckdb/connection-pool.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

async function poolOf(kept: number) {
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: 1 });
  const prepared: object[] = [];
  const pool = await ConnectionPool.open(engine, { kept, prepare: async (connection) => void prepared.push(connection) });
  onTestFinished(() => {
    pool.close();
    engine.closeSync();
  });
  return { pool, prepared };
}

const ONE = { text: 'SELECT 1', params: [] };

test('each caller has a connection of its own at once, and no more than the kept ones stay open', async () => {
  const { pool, prepared } = await poolOf(2);
  expect(prepared).toHaveLength(2);
  const held = await Promise.all(Array.from({ length: 5 }, () => pool.acquire()));
  expect(prepared).toHaveLength(5);
  expect(await Promise.all(held.map(({ runner }) => runner.run(ONE)))).toEqual(Array.from({ length: 5 }, () => [[1]]));
  for (const one of held) one[Symbol.dispose]();
  const again = await Promise.all(Array.from({ length: 3 }, () => pool.acquire()));
  expect(prepared).toHaveLength(6);
  for (const one of again) one[Symbol.dispose]();
});

test('a further connection is there for who can do without while fewer are held than are kept', async () => {
  const { pool } = await poolOf(2);
  const [first, second] = [await pool.acquire(), pool.acquireIdle()];
  expect(await second?.runner.run(ONE)).toEqual([[1]]);
  expect(pool.acquireIdle()).toBeUndefined();
  const third = await pool.acquire();
  first[Symbol.dispose]();
  // One is idle now, but others are as many as are kept.
  expect(pool.acquireIdle()).toBeUndefined();
  third[Symbol.dispose]();
  const last = pool.acquireIdle();
  expect(await last?.runner.run(ONE)).toEqual([[1]]);
  for (const one of [second, last]) one?.[Symbol.dispose]();
});

test('a connection whose work has failed is used again', async () => {
  const { pool, prepared } = await poolOf(1);
  const work = async (text: string) => {
    using connection = await pool.acquire();
    return await connection.runner.run({ text, params: [] });
  };
  await expect(work('SELECT nothing')).rejects.toThrow('nothing');
  expect(await work('SELECT 1')).toEqual([[1]]);
  expect(prepared).toHaveLength(1);
});

test('a statement that was interrupted holds its connection until the engine has let go of it, and others run meanwhile', async () => {
  const { pool } = await poolOf(1);
  const interrupting = new AbortController();
  const reason = new Error('the deadline has passed');
  const begun = Promise.withResolvers<void>();
  const runSlow = async () => {
    using connection = await pool.acquire(interrupting.signal);
    const endless = { text: 'SELECT count(*) FROM range(1000000000000) AS a (n) WHERE hash(n) = 1', params: [] };
    const running = connection.runner.run(endless);
    begun.resolve();
    await running;
  };
  const slow = runSlow();
  await begun.promise;
  using next = await pool.acquire();
  expect(await next.runner.run(ONE)).toEqual([[1]]);
  interrupting.abort(reason);
  await expect(slow).rejects.toBe(reason);
});

test('a pool that is closed turns callers away, and closes what is given back', async () => {
  const { pool } = await poolOf(1);
  const held = await pool.acquire();
  pool.close();
  await expect(pool.acquire()).rejects.toMatchObject({ code: 'closed' });
  held[Symbol.dispose]();
  await expect(held.runner.run(ONE)).rejects.toThrow();
});
