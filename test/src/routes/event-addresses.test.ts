import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

/** The `ip` of each event as it came and as it is stored, by the id. */
const IPS: Readonly<Record<string, readonly [came: string, stored: string]>> = {
  bare: ['192.0.2.7', '192.0.2.7'],
  port: ['192.0.2.7:9989', '192.0.2.7'],
  blanks: [' 192.0.2.7\n', '192.0.2.7'],
  port6: ['[2001:db8:0:1::7]:443', '2001:db8:0:1::7'],
  masked: ['192.0.2.*', '192.0.2.*'],
  masked6: ['2001:db8:0:1::*', '2001:db8:0:1::*'],
  maskedToo: [' 2001:DB8:0:1:*', '2001:DB8:0:1:*'],
  first: ['192.0.2.0', '192.0.2.0'],
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
  expect((await ingest(app, lines.join(''))).body).toMatchObject({ accepted: 9, repaired: 4, rejectedCount: 0 });
});

afterAll(() => app.stop());

describe.each(['unflushed', 'flushed'])('addresses of events, %s', (state) => {
  beforeAll(async () => {
    if (state === 'flushed') await app.store.settle('flush');
  });

  test.each<[op: string, value: string, ids: string[]]>([
    ['eq', '192.0.2.7', ['bare', 'blanks', 'port']],
    ['cidr', '192.0.2.0/28', ['bare', 'blanks', 'first', 'port']],
    ['cidr', '192.0.2.0/24', ['bare', 'blanks', 'first', 'masked', 'port']],
    ['eq', '192.0.2.*', ['masked']],
    ['eq', '192.0.2.0', ['first']],
    ['wildcard', '192.0.2.*', ['bare', 'blanks', 'first', 'list', 'masked', 'port']],
    ['eq', '2001:db8:0:1::*', ['masked6', 'maskedToo']],
    ['cidr', '2001:db8::/48', ['masked6', 'maskedToo', 'port6']],
    ['cidr', '2001:db8:0:1::/65', ['port6']],
    ['eq', '2001:db8:0:1:0:0:0:7', ['port6']],
    ['eq', '192.0.2.7:9989', []],
    ['eq', '192.0.2.7, 192.0.2.8', ['list']],
  ])('%s %s finds %j', async (op, value, ids) => {
    expect(await found(op, value)).toEqual(ids);
  });

  test('are groups and facets by their texts, also where the counts of a field are remembered', async () => {
    const body = JSON.parse(
      lastHour({ groupBy: ['ip'], filters: [{ field: 'ip', op: 'cidr', value: ['192.0.2.0/24', '2001:db8::/32'] }] }),
    );
    const counts = [
      ['192.0.2.7', 3],
      ['192.0.2.*', 1],
      ['192.0.2.0', 1],
      ['2001:DB8:0:1:*', 1],
      ['2001:db8:0:1::*', 1],
      ['2001:db8:0:1::7', 1],
    ];
    const groups = (await search(app, JSON.stringify(body))).body.groups;
    expect(groups.map(({ key, count }: { key: { ip: string }; count: number }) => [key.ip, count])).toEqual(counts);
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const explore = { from: body.from, to: body.to, facets: [{ field: 'ip' }] };
    for (const filters of [[], body.filters, body.filters]) {
      const path = '/shield/event-logs/7/explore';
      const [facet] = (await ask(app, path, { ...init, body: JSON.stringify({ ...explore, filters }) })).body.facets;
      const values = facet.values.map(({ value, count }: { value: string; count: number }) => [value, count]);
      expect(values).toEqual(
        filters.length === 0 ? [counts[0], ...counts.slice(1, 3), ['192.0.2.7, 192.0.2.8', 1], ...counts.slice(3)] : counts,
      );
    }
  });

  test('are answered as they are stored, and come out of the feed as events that are the same when they are sent in again', async () => {
    const { body } = await search(app, lastHour());
    for (const { logId, fields, log } of body.rows) {
      const [came, stored] = IPS[logId] ?? [];
      expect([logId, fields.ip, log]).toEqual([logId, stored, came === stored ? {} : { ip: came }]);
    }
    const { text } = await ask(app, '/shield/event-logs/7/feed?limit=10');
    const lines = text.trim().split('\n').slice(0, -1);
    expect((await ingest(app, lines.join('\n'))).body).toMatchObject({ accepted: 9, repaired: 0, duplicates: derived.duplicates(9) });
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
