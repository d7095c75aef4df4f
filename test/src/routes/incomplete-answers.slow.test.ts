import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../cli/command-run.ts';
import { eventLine, ingest, lastHour, type RunningApp, startApp } from '../running-app.ts';

let app: RunningApp;

/** Two whole events of zone 7, and three of zone 8 whose segment is damaged. */
beforeAll(async () => {
  app = await startApp();
  await ingest(app, ['a', 'b'].map((logId) => eventLine({ logId, country: 'NL' })).join(''));
  await app.store.settle('flush');
  const segments = () => readdirSync(join(app.dataDir, 'segments')).filter((name) => !name.includes('-log'));
  const whole = segments();
  await ingest(app, ['c', 'd', 'e'].map((logId) => eventLine({ logId, shieldZoneId: 8 })).join(''));
  await app.store.settle('flush');
  for (const name of segments().filter((one) => !whole.includes(one))) {
    const path = join(app.dataDir, 'segments', name);
    writeFileSync(path, readFileSync(path).fill(0xff));
  }
});

afterAll(() => app.stop());

const post = async (operation: string, zones: string) => {
  const headers = { 'content-type': 'application/json', accept: operation === 'export' ? 'application/x-ndjson' : 'application/json' };
  const answer = await fetch(`${app.url}/shield/event-logs/${zones}/${operation}`, { method: 'POST', headers, body: lastHour() });
  return { status: answer.status, incomplete: answer.headers.get('shield-incomplete'), text: await answer.text() };
};

const events = (text: string) => text.split('\n').filter((line) => line.includes('logId'));

test.each([
  ['search', '8', '3'],
  ['search', '7', null],
  ['explore', '8', '3'],
  ['explore', 'all', '3'],
  ['explore', '7', null],
  ['export', '7,8', '3'],
  ['export', '7', null],
])('%s of zone %s says in a header how many events it lacks', async (operation, zones, incomplete) => {
  const answer = await post(operation, zones);
  expect(answer).toMatchObject({ status: 200, incomplete });
  expect(new Set(answer.text.match(/"logId":"[a-e]"/g)).size).toBe(zones === '8' ? 0 : 2);
});

test('a window that the damage does not touch is whole', async () => {
  const now = Date.now();
  const body = JSON.stringify({ from: now - 3 * 3_600_000, to: now - 2 * 3_600_000 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${app.url}/shield/event-logs/8/search`, { method: 'POST', headers, body });
  expect([answer.status, answer.headers.get('shield-incomplete')]).toEqual([200, null]);
});

test('the zones with events, and the last line of the feed, say it, too', async () => {
  const now = Date.now();
  const zones = await fetch(`${app.url}/shield/event-logs/zones?from=${now - 3_600_000}&to=${now}`);
  expect(zones.headers.get('shield-incomplete')).toBe('3');
  expect(await zones.json()).toMatchObject({ zones: [{ shieldZoneId: 7, count: 2 }] });
  for (const [zone, lines, incomplete] of [
    ['all', 2, 3],
    ['8', 0, 3],
    ['7', 2, undefined],
  ] as const) {
    const text = await (await fetch(`${app.url}/shield/event-logs/${zone}/feed`)).text();
    expect(events(text)).toHaveLength(lines);
    const end = JSON.parse(text.trim().split('\n').at(-1) ?? '');
    expect(end.incomplete).toBe(incomplete);
    const next = await (await fetch(`${app.url}/shield/event-logs/${zone}/feed?cursor=${end.cursor}`)).text();
    expect(JSON.parse(next)).toEqual({ cursor: expect.any(String), more: false, count: 0 });
  }
});

test('readyz stays 200 and names the segment, metrics count the events', async () => {
  const ready = await fetch(`${app.url}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.text()).toMatch(
    /3 events at most cannot be read: segment \\?"j2-.*\.parquet\\?" is damaged or missing: its bytes from/,
  );
  expect(await (await fetch(`${app.url}/metrics`)).text()).toContain('\nshieldlog_unreadable_events 3\n');
  expect(app.log).toContainEqual(expect.objectContaining({ events: 3, msg: expect.stringContaining('a segment is damaged or missing') }));
});

test.each([['search'], ['groups', '--group-by', 'country'], ['export', '--ndjson']])(
  'shieldlog %s says on standard error what it lacks',
  async (...args) => {
    const { status, stdout, stderr } = await runHere([...args, '--url', app.url]);
    expect([status, stdout.includes('NL')]).toEqual([0, true]);
    expect(stderr).toContain('not everything is here: up to 3 events cannot be read, because files of the program are damaged or missing');
  },
);

test('a consumer of the feed says it once, and goes on', async () => {
  const [state, out] = [join(app.dataDir, 'state.json'), join(app.dataDir, 'out')];
  const feed = () => runHere(['feed', '--url', app.url, '--zone', 'all', '--to', out, '--once', '--state', state]);
  const first = await feed();
  expect([first.status, events(readFileSync(out, 'utf8')).length]).toEqual([0, 2]);
  expect(first.stderr).toContain('up to 3 events are left out');
  expect((await feed()).stderr).not.toContain('left out');
});
