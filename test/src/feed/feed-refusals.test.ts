import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derived } from '../../fixtures/derived.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

const [ALL, SOME] = ['key-of-all-zones-1', 'key-of-some-zones-1'];

let app: RunningApp;
let cursor: string;
let cursorOfAnother: string;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${ALL}:*,some:${SOME}:8+7` } });
  const lines = [7, 8, 9].map((zone) => eventLine({ logId: `of-${zone}`, shieldZoneId: zone }));
  await ingest(app, lines.join(''), { accesskey: ALL });
  cursor = await oldestCursor(app);
  const another = await startApp();
  cursorOfAnother = await oldestCursor(another);
  await another.stop();
});

afterAll(() => app.stop());

const feed = (zones: string, query = '', headers: Readonly<Record<string, string>> = {}) =>
  ask(app, `/shield/event-logs/${zones}/feed${query}`, { headers: { accesskey: ALL, ...headers } });

const oldestCursor = async ({ store: { positions } }: RunningApp) => positions.encode(await positions.oldest());

const changed = (text: string, index: number) => `${text.slice(0, index)}${text[index] === 'A' ? 'B' : 'A'}${text.slice(index + 1)}`;

describe('refused with what is wrong and what is allowed:', () => {
  test.each([
    ['a limit of nothing', () => '?limit=0', 'limit', 'must be a whole number 1..100000, not "0"'],
    ['a limit past the most', () => '?limit=100001', 'limit', 'must be a whole number 1..100000, not "100001"'],
    ['a limit that is no number', () => '?limit=ten', 'limit', 'must be a whole number 1..100000, not "ten"'],
    ['a longer wait', () => '?wait=31', 'wait', 'must be a whole number 0..30, not "31"'],
    ['a short line', () => '?maxLine=1023', 'maxLine', 'must be a whole number 1024..9007199254740991, not "1023"'],
    ['a line of a fraction', () => '?maxLine=2048.5', 'maxLine', 'must be a whole number'],
    ['a part past the last', () => '?part=5/4', 'part', 'must be K/N in whole numbers, 1 <= K <= N <= 1000, such as 2/4, not "5/4"'],
    ['a part of none', () => '?part=1/0', 'part', 'such as 2/4, not "1/0"'],
    ['the part before the first', () => '?part=0/4', 'part', 'such as 2/4, not "0/4"'],
    ['a part of too many', () => '?part=1/1001', 'part', 'such as 2/4, not "1/1001"'],
    ['a part without a number', () => '?part=2', 'part', 'such as 2/4, not "2"'],
    ['a part twice', () => '?part=1/2&part=2/2', 'part', 'such as 2/4, not 2 values'],
    ['an unknown format', () => '?format=leef', 'format', 'must be one of native, ecs, ocsf, cef, not "leef"'],
    ['a parameter twice', () => '?limit=1&limit=2', 'limit', 'must be a whole number 1..100000, not 2 values'],
    ['a cursor twice', () => '?cursor=now&cursor=now', 'cursor', 'is given several times'],
    ['an empty cursor', () => '?cursor=', 'cursor', '"" is not a cursor as the feed gives them: it was cut or changed'],
    ['a cut cursor', () => `?cursor=${cursor.slice(0, 27)}`, 'cursor', 'it was cut or changed'],
    ['a cursor of another version', () => `?cursor=${'Ag'.padEnd(28, 'A')}`, 'cursor', 'it was cut or changed'],
    ['a cursor of another store', () => `?cursor=${cursorOfAnother}`, 'cursor', 'is a cursor of another store'],
    [
      'an unknown parameter',
      () => '?from=1',
      'from',
      'is not a query parameter of this path; allowed are cursor, limit, format, wait, maxLine, part',
    ],
  ])('%s', async (_, query, field, message) => {
    const { status, body } = await feed('7', query());
    expect([status, body.errorKey]).toEqual([400, 'request.invalid']);
    expect(body.errors).toEqual([{ field, message: expect.stringContaining(message) }]);
  });

  test('a cursor with any one character changed', async () => {
    expect((await feed('7', `?cursor=${cursor}`)).status).toBe(200);
    for (let index = 0; index < cursor.length; index += 1) {
      expect((await feed('7', `?cursor=${changed(cursor, index)}`)).status, `index ${index}`).toBe(400);
    }
  });

  test('a cursor ahead of the feed, with the one to go on with', async () => {
    const { positions } = app.store;
    const ahead = positions.encode(positions.advance(await positions.newest(), { sequence: derived.lastSequence }));
    const { status, body } = await feed('7', `?cursor=${ahead}`);
    expect([status, body.errorKey]).toEqual([416, 'feed.cursor_ahead']);
    const { status: next, body: rest } = await feed('7', `?cursor=${body.oldestCursor}`);
    expect([next, rest.count]).toEqual([200, 0]);
    const { status: last, body: other } = await feed('7', `?cursor=${ahead}&limit=0`);
    expect([last, other.errors.map(({ field }: { field: string }) => field)]).toEqual([400, ['limit']]);
  });

  test.each(['', ',', '7,', '7,x', '1.5', 'ALL', '99999999999', '7%2C%208'])('the zones %j', async (zones) => {
    const { status, body } = await feed(zones);
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'shieldZoneId', message: expect.stringMatching(/is not a whole number .* or all$/) }],
    ]);
  });

  test.each([
    [{ accept: 'text/html' }, /^Accept: text\/html takes none of application\/x-ndjson/],
    [{ 'accept-encoding': 'br, identity;q=0' }, /^Accept-Encoding: br, identity;q=0 takes none of zstd, gzip, identity/],
  ])('%j', async (headers, detail) => {
    const { status, body } = await feed('7', '', headers);
    expect([status, body.errorKey, body.detail]).toEqual([406, 'accept.none', expect.stringMatching(detail)]);
  });
});

test('a HEAD, which would wait for events and read them for nobody, as for other paths that have none', async () => {
  let pages = 0;
  const readFeed = app.store.readFeed.bind(app.store);
  app.store.readFeed = (request, options) => {
    pages += 1;
    return readFeed(request, options);
  };
  const { status, headers } = await ask(app, '/shield/event-logs/7/feed?wait=30', { method: 'HEAD', headers: { accesskey: ALL } });
  app.store.readFeed = readFeed;
  expect([status, headers.get('allow'), pages]).toEqual([405, 'GET', 0]);
});

describe('an access key', () => {
  test('opens its zones, and `all` means those', async () => {
    const ids = async (zones: string, accesskey: string) => {
      const { text } = await feed(zones, '', { accesskey });
      const lines = text.trimEnd().split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line).logId);
    };
    expect(await ids('all', ALL)).toEqual(['of-7', 'of-8', 'of-9']);
    expect(await ids('all', SOME)).toEqual(['of-7', 'of-8']);
    expect(await ids('8,7', SOME)).toEqual(['of-7', 'of-8']);
  });

  test('opens no other, and is told which', async () => {
    const { status, body } = await feed('7,9,10', '', { accesskey: SOME });
    expect([status, body.errorKey, body.detail]).toEqual([403, 'access.zone_denied', 'The access key does not open shield zone 9']);
    expect((await feed('7', '', { accesskey: 'key-nobody-has-00' })).status).toBe(401);
  });
});
