import { expect, test } from 'vitest';
import { ask, eventLine, ingest } from '../../src/running-app.ts';
import { breakableServer } from '../engine.ts';
import { sharedStore } from '../shared-store.ts';
import { programOn, readiness } from './program-on.ts';

const CALLERS = 50;

test('a server that does not answer is told within two seconds, and has been asked once for all who ask', async () => {
  const server = await breakableServer();
  const program = await programOn([server.url]);
  const silent = await server.break({ kind: 'hold', at: 'before', matching: 'sum\\(bytes_on_disk\\)' });
  const answers = await Promise.all(Array.from({ length: CALLERS }, () => ask(program, '/readyz')));
  for (const { status, body } of answers) {
    expect([status, body.reasons]).toEqual([503, ['store: ClickHouse does not answer']]);
  }
  expect(await server.held(silent)).toHaveLength(1);
  await server.mend(silent);
  await expect.poll(async () => (await ask(program, '/readyz')).status).toBe(200);
});

test('an insert that is refused keeps the program from being ready, whatever else the server answers', async () => {
  const server = await breakableServer();
  const program = await programOn([server.url]);
  const refusal = { code: 497, name: 'ACCESS_DENIED', message: 'default: Not enough privileges' };
  await server.break({ kind: 'refuse', ...refusal, matching: '^INSERT INTO "events_local"' });
  expect((await ingest(program, eventLine({ logId: 'a' }))).status).toBe(503);
  await expect.poll(() => readiness(program)).toEqual({ status: 503, reasons: [expect.stringContaining('Not enough privileges')] });
});

test.each([
  ['one server', 'events_local'],
  ['a cluster', 'events_local'],
  ['a cluster', 'events'],
] as const)(
  'a table that is dropped under a store keeps it from being ready, with the name of the table: on %s, %s',
  async (place, table) => {
    const shared = await sharedStore(undefined, place);
    const store = await shared.open();
    await expect.poll(() => store.reasonsNotReady()).toEqual([]);
    await shared.run(`DROP TABLE ${shared.address.database}.${table} SYNC`);
    await expect.poll(() => store.reasonsNotReady()).toEqual([expect.stringContaining(table)]);
  },
);
