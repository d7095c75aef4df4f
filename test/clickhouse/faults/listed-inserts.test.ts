import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { event, HOUR } from '../../store/embedded/stored-events.ts';
import { type BreakableServer, breakableServer } from '../engine.ts';
import { breakableAt, everythingIn, PLACES, readFeed, sharedStore } from '../shared-store.ts';

const INSERT = '^INSERT INTO "events';

const BATCH = canonicalBatch([event('a', NOW), event('b', NOW - HOUR)]);

const LISTED_ON = expect.stringContaining('ClickHouse lists an INSERT on');

function warningLog() {
  const warnings: string[] = [];
  return { warnings, logger: { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) } };
}

/** Whether an append is not acknowledged by a look that lists an insert, and asks again after that. `end` has the insert listed no more. */
async function expectAwaited(server: BreakableServer, append: () => Promise<unknown>, end: () => Promise<void>): Promise<void> {
  const look = (at: 'before' | 'after') => server.break({ kind: 'hold', at, matching: 'system.processes', times: 1 });
  const listing = await look('after');
  const appended = append();
  const whichFirst = (fault: number) => Promise.race([appended.then(() => 'acknowledged'), server.held(fault).then(() => 'looks')]);
  expect(await whichFirst(listing)).toBe('looks');
  const next = await look('before');
  await server.mend(listing);
  expect(await whichFirst(next)).toBe('looks');
  await end();
  await server.mend(next);
  await appended;
}

describe.each(PLACES)('on %s, events are acknowledged once all readers see them, where ClickHouse lists', (place) => {
  async function programs() {
    const server = await breakableAt(place);
    const shared = await sharedStore(undefined, place);
    return { server, store: await shared.open({}, server.url), other: await shared.open() };
  }

  test('their insert after its answer', async () => {
    const { server, store, other } = await programs();
    const listed = await server.break({ kind: 'list-on', matching: INSERT, times: 1 });
    await expectAwaited(
      server,
      () => store.append(BATCH),
      async () => {
        expect(await readFeed(other)).toEqual([]);
        await server.mend(listed);
      },
    );
    expect(await everythingIn(other)).toMatchObject({ histogram: 2, exported: ['a', 'b'], feed: ['a', 'b'] });
  });

  test('an insert of theirs whose answer was lost, and which runs on', async () => {
    const { server, store, other } = await programs();
    const running = await server.break({ kind: 'hold', at: 'inside', matching: INSERT, times: 1 });
    const lost = store.append(BATCH).catch(({ code }) => code);
    await server.held(running);
    await server.goAway();
    expect(await lost).toBe('unavailable');
    await server.comeBack();
    await expectAwaited(
      server,
      () => store.append(BATCH),
      async () => {
        expect(await readFeed(other)).toEqual([]);
        await server.mend(running);
      },
    );
    expect(await everythingIn(other)).toMatchObject({ histogram: 2, exported: ['a', 'b'] });
  });
});

const FULL = { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: 'memory limit exceeded' };
const MISTAKEN = { code: 62, name: 'SYNTAX_ERROR', message: 'syntax error' };

test.each([
  ['by an outage, which has its own lines', FULL, { code: 'overloaded' }, []],
  ['by a defect, which is told', MISTAKEN, { message: expect.stringContaining('cannot run a statement of this program') }, [LISTED_ON]],
] as const)('events that are stored are acknowledged where it cannot be asked what runs: %s', async (_, error, told, warned) => {
  const server = await breakableAt('one server');
  const shared = await sharedStore(server.url);
  const { logger, warnings } = warningLog();
  const store = await shared.open({ logger });
  const refused = await server.break({ kind: 'refuse', ...error, matching: 'system.processes' });
  expect(await store.append(BATCH)).toMatchObject({ eventCount: 2 });
  expect(warnings).toEqual(warned);
  await expect(readFeed(store)).rejects.toMatchObject(told);
  await server.mend(refused);
  expect((await readFeed(store)).length).toBe(2);
});

test('events that are stored are acknowledged after a while, and told once, where an insert hangs', async () => {
  const server = await breakableServer();
  const shared = await sharedStore(server.url);
  const { logger, warnings } = warningLog();
  const store = await shared.open({ logger }, server.url, { seenWithinMs: 50 });
  const listed = await server.break({ kind: 'list-on', matching: INSERT, times: 1 });
  for (const logId of ['a', 'b']) await store.append(canonicalBatch([event(logId, NOW)]));
  expect(await readFeed(store)).toEqual([]);
  expect(warnings).toEqual([LISTED_ON]);
  await server.mend(listed);
  await store.append(canonicalBatch([event('c', NOW)]));
  expect((await readFeed(store)).map(({ logId }) => logId)).toEqual(['a', 'b', 'c']);
});
