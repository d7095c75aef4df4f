import { expect, onTestFinished, test } from 'vitest';
import { ask, eventLine, ingest, lastHour, search } from '../../src/running-app.ts';
import { breakableServer, quietClient, testDatabase } from '../engine.ts';
import { programOn } from './program-on.ts';

/** Each of so many rows takes a reader of urls some microseconds; ClickHouse allows three seconds for those of a block. */
const ROWS = 2_000_000;
const ROW_SECONDS = 0.00004;

/** A text with a question mark is looked for in the whole url. */
const SLOW = { filters: [{ field: 'url', op: 'contains', value: ['path?x'] }] };

/** A program whose searches for urls take longer than a test waits, and the statements that run on its server. */
async function slowProgram(env: Readonly<Record<string, string>> = {}) {
  const server = await breakableServer();
  const { name: database } = await testDatabase();
  const program = await programOn([server.url], { database, env });
  expect((await ingest(program, eventLine({ logId: 'first', url: '/path?x=1' }))).status).toBe(202);
  const client = quietClient({ url: server.url, database });
  onTestFinished(() => client.close());
  const run = (query: string) => client.command({ query });
  const columns = 'shieldZoneId, timestamp, logId, seq, urlHead, urlTail, packed';
  await run(`INSERT INTO events_local (${columns}) SELECT shieldZoneId, timestamp, concat('p', toString(number)), seq + number * 4096,
    urlHead, urlTail, packed FROM events_local CROSS JOIN numbers(1, ${ROWS}) AS numbers WHERE logId = 'first'`);
  await run(`ALTER TABLE events_local MODIFY COLUMN url ALIAS if(sleepEachRow(${ROW_SECONDS}) = 0, urlHead || urlTail, '')`);
  const running = async (): Promise<number> => {
    const slow = "query LIKE '%position%' AND query NOT LIKE '%system.processes%'";
    const query = `SELECT query FROM system.processes WHERE query_kind = 'Select' AND current_database = currentDatabase() AND ${slow}`;
    return (await (await client.query({ query, format: 'JSONCompact' })).json<unknown[]>()).data.length;
  };
  return { server, program, running };
}

test('a deadline ends the statement on the server', async () => {
  const { server, program, running } = await slowProgram({ QUERY_DEADLINE_MS: '3000' });
  const ending = await server.break({ kind: 'hold', at: 'before', matching: '^KILL QUERY' });
  const answer = search(program, lastHour(SLOW));
  await expect.poll(running).toBe(1);
  const { status, headers, body } = await answer;
  expect([status, body.errorKey]).toEqual([503, 'search.deadline']);
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
  await server.held(ending);
  await server.mend(ending);
  await expect.poll(running).toBe(0);
});

test('a caller who hangs up ends his statement on the server', async () => {
  const { server, program, running } = await slowProgram();
  const ending = await server.break({ kind: 'hold', at: 'before', matching: '^KILL QUERY' });
  const caller = new AbortController();
  const body = lastHour(SLOW);
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: caller.signal };
  const answer = ask(program, '/shield/event-logs/7/export', init);
  await expect.poll(running).toBe(1);
  caller.abort(new Error('has hung up'));
  await expect(answer).rejects.toThrow('has hung up');
  await server.held(ending);
  await server.mend(ending);
  await expect.poll(running).toBe(0);
});

test('a stop ends the statements under way on the server', async () => {
  const { program, running } = await slowProgram();
  const answer = search(program, lastHour(SLOW)).catch((error: unknown) => error);
  await expect.poll(running).toBe(1);
  await program.stop();
  await answer;
  await expect.poll(running).toBe(0);
});
