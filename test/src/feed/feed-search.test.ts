import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mostLookedAt } from '../../../query/plan/wanted-events.ts';
import { compileConditions } from '../../../query/request/compile-search.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

const BLOCKED = { filters: [{ field: 'action', op: 'eq', value: ['blocked'] }] };

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  const lines = Array.from({ length: 12 }, (_, nth) => {
    return eventLine({ logId: `e${nth}`, action: nth % 4 === 0 ? 'blocked' : 'logged', url: nth % 3 === 0 ? '/admin' : '/' });
  });
  await ingest(app, lines.join(''));
});

afterAll(() => app.stop());

interface Feed {
  readonly ids: readonly string[];
  readonly last: { readonly cursor: string; readonly more: boolean; readonly count: number };
}

async function feed(search: unknown, query = ''): Promise<Feed> {
  const given = search === null ? '' : `search=${encodeURIComponent(JSON.stringify(search))}&`;
  const { status, text } = await ask(app, `/shield/event-logs/7/feed?${given}${query}`);
  expect(status, text).toBe(200);
  return feedOf(text);
}

function feedOf(text: string): Feed {
  const lines = text.trimEnd().split('\n');
  const last = JSON.parse(lines.pop() ?? '');
  return { ids: lines.map((line) => JSON.parse(line).logId), last };
}

describe('the feed for a search', () => {
  test.each([
    ['whole values', BLOCKED, ['e0', 'e4', 'e8']],
    ['texts', { query: 'admin' }, ['e0', 'e3', 'e6', 'e9']],
    ['what is excluded', { query: 'admin', exclude: BLOCKED.filters }, ['e3', 'e6', 'e9']],
    ['nothing', {}, Array.from({ length: 12 }, (_, nth) => `e${nth}`)],
    ['what no event has', { query: 'nowhere' }, []],
  ])('has the events with %s, and goes on behind all that were looked at', async (_what, search, expected) => {
    const { ids, last } = await feed(search);
    expect([ids, last.count, last.more]).toEqual([expected, expected.length, false]);
    // The cursor means the same without a search.
    expect((await feed(null, `cursor=${last.cursor}`)).ids).toEqual([]);
  });

  test('comes in pages of the limit, and its cursor is behind the last event of the page', async () => {
    const first = await feed(BLOCKED, 'limit=1');
    expect(first).toMatchObject({ ids: ['e0'], last: { more: true } });
    expect((await feed(BLOCKED, `cursor=${first.last.cursor}`)).ids).toEqual(['e4', 'e8']);
    expect((await feed(null, `cursor=${first.last.cursor}&limit=1`)).ids).toEqual(['e1']);
  });

  test('waits for an event that it finds, whatever else comes', async () => {
    const { cursor } = (await feed(BLOCKED, 'cursor=now')).last;
    const waiting = feed(BLOCKED, `cursor=${cursor}&wait=30`);
    await ingest(app, eventLine({ logId: 'other', action: 'logged' }));
    await ingest(app, eventLine({ logId: 'wanted', action: 'blocked' }));
    expect((await waiting).ids).toEqual(['wanted']);
    // What came before it was looked at.
    const none = await feed({ query: 'nowhere' }, `cursor=${cursor}&wait=1`);
    expect((await feed(null, `cursor=${none.last.cursor}`)).ids).toEqual([]);
  });

  test.each([
    ['no JSON', 'nonsense', 'must be JSON'],
    ['a field that events do not have', '{"filters":[{"field":"colour","op":"eq","value":["red"]}]}', 'filters[0].field'],
    ['a time', '{"from":1}', 'from'],
  ])('is refused for a search that is %s', async (_what, search, words) => {
    const { status, text } = await ask(app, `/shield/event-logs/7/feed?search=${encodeURIComponent(search)}`);
    expect([status, JSON.parse(text).errorKey]).toEqual([400, 'request.invalid']);
    expect(text).toContain(words);
  });

  test('is refused for a search that is given twice', async () => {
    const { status, text } = await ask(app, '/shield/event-logs/7/feed?search={}&search={}');
    expect([status, JSON.parse(text).errors]).toEqual([400, [{ field: 'search', message: 'must be given once' }]]);
  });
});

/** As many texts as a search may have, none of which an event of these tests has. */
const COSTLY = {
  query: Array.from({ length: 64 }, (_, nth) => `word-${nth}`).join(' '),
  filters: [{ field: 'url', op: 'contains', value: Array.from({ length: 64 }, (_, nth) => `never-${nth}`) }],
};

test('an answer ends once so many events were looked at, with a cursor behind them, from which the next one goes on', async () => {
  const most = mostLookedAt({ where: compileConditions(Buffer.from(JSON.stringify(COSTLY))) });
  const many = await startApp();
  const answerTo = async (query: string) => JSON.parse((await ask(many, `/shield/event-logs/7/feed?${query}`)).text);
  const search = `search=${encodeURIComponent(JSON.stringify(COSTLY))}`;
  try {
    for (let round = 0; round < 3; round += 1) {
      const lines = Array.from({ length: Math.ceil(0.55 * most) }, (_, nth) => eventLine({ logId: `${round}-${nth}` }));
      await ingest(many, lines.join(''));
      await many.store.settle('flush');
    }
    const first = await answerTo(search);
    expect(first).toMatchObject({ more: true, count: 0 });
    const second = await answerTo(`${search}&cursor=${first.cursor}`);
    expect(second).toMatchObject({ more: false, count: 0 });
    expect(await answerTo(`cursor=${second.cursor}`)).toMatchObject({ more: false, count: 0 });
    const { count } = await ask(many, `/shield/event-logs/7/feed?cursor=${first.cursor}&limit=100000`).then(
      ({ text }) => feedOf(text).last,
    );
    expect(count).toBeGreaterThan(0);
  } finally {
    await many.stop();
  }
});
