import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

/** The `ip` of each event as it came and as it is stored, by the id. */
const IPS: Readonly<Record<string, readonly [came: string, stored: string]>> = {
  bare: ['192.0.2.7', '192.0.2.7'],
  port: ['192.0.2.7:9989', '192.0.2.7'],
  blanks: [' 192.0.2.7\n', '192.0.2.7'],
  port6: ['[2001:db8:0:1::7]:443', '2001:db8:0:1::7'],
  list: ['192.0.2.7, 192.0.2.8', '192.0.2.7, 192.0.2.8'],
};

let app: RunningApp;

/** The ids of the events that are found, in their order. */
async function found(op: string, ...value: string[]): Promise<string[]> {
  const { body } = await search(app, lastHour({ filters: [{ field: 'ip', op, value }] }));
  return body.rows.map(({ logId }: { logId: string }) => logId).sort();
}

const metric = async (name: string): Promise<string | undefined> =>
  (await ask(app, '/metrics')).text.split('\n').find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));

beforeAll(async () => {
  app = await startApp();
  const lines = Object.entries(IPS).map(([logId, [ip]]) => eventLine({ logId, ip, log: {} }));
  expect((await ingest(app, lines.join(''))).body).toMatchObject({ accepted: 5, repaired: 3, rejectedCount: 0 });
});

afterAll(() => app.stop());

describe.each(['unflushed', 'flushed'])('addresses of events, %s', (state) => {
  beforeAll(async () => {
    if (state === 'flushed') await app.store.settle('flush');
  });

  test.each<[op: string, value: string, ids: string[]]>([
    ['eq', '192.0.2.7', ['bare', 'blanks', 'port']],
    ['cidr', '192.0.2.0/28', ['bare', 'blanks', 'port']],
    ['eq', '2001:db8:0:1:0:0:0:7', ['port6']],
    ['eq', '192.0.2.7:9989', []],
    ['eq', '192.0.2.7, 192.0.2.8', ['list']],
  ])('%s %s finds %j', async (op, value, ids) => {
    expect(await found(op, value)).toEqual(ids);
  });

  test('are answered as they are stored, and come out of the feed as events that are the same when they are sent in again', async () => {
    const { body } = await search(app, lastHour());
    for (const { logId, fields, log } of body.rows) {
      const [came, stored] = IPS[logId] ?? [];
      expect([logId, fields.ip, log]).toEqual([logId, stored, came === stored ? {} : { ip: came }]);
    }
    const { text } = await ask(app, '/shield/event-logs/7/feed?limit=10');
    const lines = text.trim().split('\n').slice(0, -1);
    expect((await ingest(app, lines.join('\n'))).body).toMatchObject({ accepted: 5, repaired: 0, duplicates: derived.duplicates(5) });
  });
});

test('are freed of their ports in files and in JSON, too', async () => {
  const ip = '198.51.100.7:1';
  const line = eventLine({ logId: 'file', ip });
  const headers = { 'content-type': 'application/x-ndjson' };
  const file = await ask(app, '/ingest/events?source=file', { method: 'POST', headers, body: line });
  expect(JSON.parse(file.text)).toMatchObject({ accepted: 1, repaired: 1 });
  expect((await ingest(app, `[${line.replace('"file"', '"array"')}]`)).body).toMatchObject({ accepted: 1, repaired: 1 });
  expect(await found('eq', '198.51.100.7')).toEqual(['array', 'file']);
});

test('that are neither addresses nor networks are counted', async () => {
  // Once as it came, and twice from the feed.
  expect(await metric('shieldlog_unknown_ips_total')).toBe('shieldlog_unknown_ips_total{source="http"} 3');
});
