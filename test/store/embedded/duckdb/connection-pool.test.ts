import { expect, onTestFinished, test } from 'vitest';
import { ConnectionPool } from '../../../../store/embedded/duckdb/connection-pool.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

async function poolOf(size: number, maxWaiting: number): Promise<ConnectionPool> {
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: 1 });
  const pool = await ConnectionPool.open(engine, size, maxWaiting);
  onTestFinished(() => {
    pool.close();
    engine.closeSync();
  });
  return pool;
}

/** Takes a connection, adds `name` to `order`, and keeps the connection until `letGo` is called. */
function hold(pool: ConnectionPool, name: string, order: string[], signal?: AbortSignal) {
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  const work = async () => {
    using _connection = await pool.acquire(signal);
    order.push(name);
    await promise;
  };
  return { held: work(), letGo };
}

test('who finds no connection free gets one in turn, and no more are used than there are', async () => {
  const pool = await poolOf(2, 10);
  const order: string[] = [];
  const all = ['a', 'b', 'c', 'd'].map((name) => hold(pool, name, order));
  await expect.poll(() => order).toEqual(['a', 'b']);
  all[1]?.letGo();
  await all[1]?.held;
  await expect.poll(() => order).toEqual(['a', 'b', 'c']);
  for (const { letGo } of all) {
    letGo();
  }
  await Promise.all(all.map(({ held }) => held));
  expect(order).toEqual(['a', 'b', 'c', 'd']);
});

test('past the number that may wait a caller is refused, and who gives up waiting makes room', async () => {
  const pool = await poolOf(1, 1);
  const order: string[] = [];
  const giveUp = new AbortController();
  const reason = new Error('given up');
  const first = hold(pool, 'first', order);
  const waiting = hold(pool, 'waiting', order, giveUp.signal);
  await expect(hold(pool, 'refused', order).held).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('1 searches'),
  });
  giveUp.abort(reason);
  await expect(waiting.held).rejects.toBe(reason);
  const last = hold(pool, 'last', order);
  first.letGo();
  last.letGo();
  await Promise.all([first.held, last.held]);
  expect(order).toEqual(['first', 'last']);
});

test('a connection that nobody uses can be taken without waiting, and is used again', async () => {
  const pool = await poolOf(1, 1);
  const order: string[] = [];
  const idle = pool.acquireIdle();
  expect(await idle?.runner.run({ text: 'SELECT 1', params: [] })).toEqual([[1]]);
  expect(pool.acquireIdle()).toBeUndefined();
  const waiting = hold(pool, 'waiting', order);
  expect(order).toEqual([]);
  idle?.[Symbol.dispose]();
  await expect.poll(() => order).toEqual(['waiting']);
  waiting.letGo();
  await waiting.held;
});

test('a connection whose work has failed is used again', async () => {
  const pool = await poolOf(1, 1);
  const work = async (text: string) => {
    using connection = await pool.acquire();
    return await connection.runner.run({ text, params: [] });
  };
  await expect(work('SELECT nothing')).rejects.toThrow('nothing');
  expect(await work('SELECT 1')).toEqual([[1]]);
});

test('a search that was interrupted keeps its connection until the engine has let go of it, and the next one runs then', async () => {
  const pool = await poolOf(1, 1);
  const interrupting = new AbortController();
  const reason = new Error('the deadline has passed');
  const ends: string[] = [];
  const begun = Promise.withResolvers<void>();
  const runSlow = async () => {
    using connection = await pool.acquire(interrupting.signal);
    const endless = { text: 'SELECT count(*) FROM range(1000000000000) AS a (n) WHERE hash(n) = 1', params: [] };
    const running = connection.runner.run(endless);
    begun.resolve();
    await running.finally(() => ends.push('interrupted'));
  };
  const runNext = async () => {
    using connection = await pool.acquire();
    ends.push('next');
    return await connection.runner.run({ text: 'SELECT 2', params: [] });
  };
  const [slow, next] = [runSlow(), runNext()];
  await begun.promise;
  interrupting.abort(reason);
  await expect(slow).rejects.toBe(reason);
  expect(await next).toEqual([[2]]);
  expect(ends).toEqual(['interrupted', 'next']);
});

test('a pool that closes turns away who waits', async () => {
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: 1 });
  onTestFinished(() => engine.closeSync());
  const pool = await ConnectionPool.open(engine, 1, 1);
  const order: string[] = [];
  const first = hold(pool, 'first', order);
  const waiting = hold(pool, 'waiting', order);
  const turnedAway = expect(waiting.held).rejects.toMatchObject({ code: 'closed' });
  pool.close();
  await turnedAway;
  first.letGo();
  await first.held;
});
