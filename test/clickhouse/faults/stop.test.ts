import { describe, expect, test } from 'vitest';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { ask, eventLine, ingest } from '../../src/running-app.ts';
import { event } from '../../store/embedded/stored-events.ts';
import { breakableServer } from '../engine.ts';
import { readFeed, sharedStore } from '../shared-store.ts';
import { eventsOf, programOn } from './program-on.ts';

const INSERT = '^INSERT INTO "events_local"';

describe('a stop', () => {
  test('while an insert hangs before, inside or after its work ends in time, and the upload can be repeated', async () => {
    const whileItHangs = async (at: 'before' | 'inside' | 'after'): Promise<void> => {
      const server = await breakableServer();
      const shared = await sharedStore(server.url);
      const { database } = shared.address;
      const program = await programOn([server.url], { database });
      const hanging = await server.break({ kind: 'hold', at, matching: INSERT, times: 1 });
      const line = eventLine({ logId: 'a' });
      const refused = ingest(program, line).catch((error: unknown) => error);
      await server.held(hanging);
      await program.stop();
      expect(await refused).toBeInstanceOf(TypeError);
      await server.mend();
      const next = await programOn([server.url], { database });
      expect((await ingest(next, line)).status).toBe(202);
      await expect.poll(() => eventsOf(next)).toEqual({ total: 1, feed: ['a'] });
    };
    await Promise.all([whileItHangs('before'), whileItHangs('inside'), whileItHangs('after')]);
  });

  test('while the server is away ends', async () => {
    const server = await breakableServer();
    const program = await programOn([server.url]);
    await server.goAway();
    expect((await ingest(program, eventLine())).status).toBe(503);
    await program.stop();
  });

  test('while the server takes requests and answers none ends', async () => {
    const server = await breakableServer();
    const program = await programOn([server.url]);
    const silent = await server.break({ kind: 'hold', at: 'before' });
    const asked = ask(program, '/readyz').catch((error: unknown) => error);
    await server.held(silent);
    await program.stop();
    await asked;
  });
});

test('an insert that is answered too late is told as failed, ends on the server, and is made again without a copy', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  // The other one is as patient as a program is: on a busy machine nothing else is answered within half a second, either.
  const [impatient, store] = [await shared.open({}, server.url, { idleMs: 500 }), await shared.open()];
  await server.break({ kind: 'hold', at: 'inside', matching: INSERT, times: 1 });
  const batch = canonicalBatch([event('a', NOW), event('b', NOW)]);
  await expect(impatient.append(batch)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('Timeout error') });
  await server.mend();
  const inserts = "SELECT count() FROM system.processes WHERE query_kind = 'Insert' AND current_database = currentDatabase()";
  await expect.poll(() => shared.rows(inserts)).toEqual([['0']]);
  await store.append(batch);
  expect((await readFeed(store)).map(({ logId }) => logId)).toEqual(['a', 'b']);
});

test('a store is not ready after a failed insert, but not for ever', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const [patient, hasty] = [await shared.open(), await shared.open({}, server.url, { failureHoldMs: 1 })];
  await server.break({ kind: 'refuse', code: 243, name: 'NOT_ENOUGH_SPACE', message: 'Cannot reserve', matching: INSERT });
  for (const store of [patient, hasty]) {
    await expect(store.append(canonicalBatch([event('a', NOW)]))).rejects.toMatchObject({ code: 'append_failed' });
  }
  await expect.poll(() => hasty.reasonsNotReady()).toEqual([]);
  await expect.poll(() => patient.reasonsNotReady()).toEqual([expect.stringContaining('ClickHouse cannot write')]);
});

test('an opening does not wait for ever for a server that answers nothing', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const silent = await server.break({ kind: 'hold', at: 'before' });
  const store = await shared.open({}, server.url, { setupWaitMs: 1 });
  await server.mend(silent);
  await store.append(canonicalBatch([event('a', NOW)]));
  expect((await readFeed(store)).length).toBe(1);
});
