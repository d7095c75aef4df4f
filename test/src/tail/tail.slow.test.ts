import { afterEach, describe, expect, test } from 'vitest';
import type { FeedLine, FeedPosition } from '../../../store/event-store.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { metric, openRaw, openTail, tailPath, take, watchers } from './tail-client.ts';

let app: RunningApp;

afterEach(() => app.stop());

describe('a live tail', () => {
  test('has each event as the search has it, with its zone, in the order they came', async () => {
    app = await startApp();
    await take(app, { logId: 'before' });
    const tail = await openTail(app);
    await take(app, { logId: 'a', ip: '192.0.2.1', url: '/ä', action: 'blocked', asn: 5, log: { big: 1 } });
    await take(app, { logId: 'b', timestamp: Date.now() - 50 * 60_000 }, { logId: 'c' }, { logId: 'elsewhere', shieldZoneId: 8 });
    await eventually('three events', () => tail.rows.length === 3);
    expect(tail.logIds()).toEqual(['a', 'b', 'c']);
    const { body } = await search(app, lastHour());
    for (const { shieldZoneId, ...row } of tail.rows) {
      expect(shieldZoneId).toBe(7);
      expect(row).toEqual(body.rows.find(({ logId }: { logId: string }) => logId === row.logId));
    }
  });

  test('keeps every digit and every character of a log, in one line of data', async () => {
    app = await startApp();
    const { text } = await openRaw(app);
    const log = '{"big":9007199254740993123,\r"text":"a\\r\\n\u2028\\u0000","data":"id: 1"}';
    await ingest(app, eventLine({ logId: 'a\n\nb', ip: '\u2029' }).replace('"ip"', `"log":${log},"ip"`));
    await eventually('the event', () => text().includes('event: event'));
    const data = /^data: (\{"logId"[^\n]*)$/m.exec(text())?.[1] ?? '';
    expect(data).toContain('"big":9007199254740993123');
    expect(JSON.parse(data)).toMatchObject({ logId: 'a\n\nb', fields: { ip: '\u2029' }, log: { text: 'a\r\n\u2028\0', data: 'id: 1' } });
    expect(data).not.toContain('\r');
  });

  test.each([
    [{ query: 'LOGIN' }, ['login', 'both']],
    [{ filters: [{ field: 'ip', op: 'cidr', value: ['10.0.0.0/8'] }] }, ['ten', 'both']],
    [{ query: 'login', filters: [{ field: 'ip', op: 'cidr', value: ['10.0.0.0/8'] }] }, ['both']],
    [{ query: null, filters: [{ field: 'url', op: 'wildcard', value: ['/log*', '/adm*'] }] }, ['login', 'both']],
    [{ filters: [{ field: 'country', op: 'eq', value: ['de'] }] }, []],
  ])('of %j has %j', async (conditions, expected) => {
    app = await startApp();
    const tail = await openTail(app, { search: conditions });
    const everything = await openTail(app);
    await take(app, { logId: 'login', url: '/Login' }, { logId: 'ten', ip: '10.1.1.1' }, { logId: 'both', url: '/login', ip: '10.2.2.2' });
    await take(app, { logId: 'last' });
    await eventually('the last event', () => everything.logIds().includes('last'));
    expect(tail.logIds()).toEqual(expected);
  });

  test('asks the store for the whole values of the conditions of all that watch, and tries the rest itself', async () => {
    app = await startApp();
    const asked: unknown[] = [];
    const readFeed = app.store.readFeed.bind(app.store);
    app.store.readFeed = (request, options) => {
      asked.push(request.where);
      return readFeed(request, options);
    };
    const blocked = { field: 'action', op: 'eq', value: ['blocked'] };
    const logins = await openTail(app, { search: { query: 'login', filters: [blocked] } });
    const german = await openTail(app, { search: { filters: [{ field: 'country', op: 'eq', value: ['DE'] }] } });
    await take(app, { logId: 'a', url: '/login', action: 'blocked' }, { logId: 'b', action: 'blocked' }, { logId: 'c', url: '/login' });
    await take(app, { logId: 'd', country: 'DE' }, { logId: 'e', url: '/login', action: 'Blocked' });
    await eventually('the last events', () => logins.logIds().includes('e') && german.logIds().includes('d'));
    expect([logins.logIds(), german.logIds()]).toEqual([['a', 'e'], ['d']]);
    const values = (column: string, value: string) => expect.objectContaining({ kind: 'equals', column, values: [value] });
    expect(asked).toContainEqual({ kind: 'any', of: [values('action', 'blocked'), values('country', 'DE')] });
  });

  test('begins with where it is, says when to come back, and is to be neither kept nor held back', async () => {
    app = await startApp();
    const { text, socket } = await openRaw(app);
    const head = text().slice(0, text().indexOf('\r\n\r\n')).toLowerCase();
    for (const header of ['http/1.1 200', 'content-type: text/event-stream', 'cache-control: no-store', 'x-accel-buffering: no']) {
      expect(head).toContain(header);
    }
    expect(head).not.toContain('content-encoding');
    await eventually('the first message', () => /^retry: \d+\nid: \S+\nevent: ready\ndata: \{"cursor":"\S+"\}\n\n/m.test(text()));
    socket.destroy();
  });

  test('gives signs of life, which tell how far it is, and outlives the patience of the server with idle connections', async () => {
    app = await startApp({ tailLimits: { heartbeatMs: 10 } });
    app.app.server.keepAliveTimeout = 20;
    app.app.server.headersTimeout = 20;
    const { text } = await openRaw(app, tailPath({ search: { query: 'nothing like it' } }));
    const ids = () => [...text().matchAll(/^: alive\nid: (\S+)$/gm)].map(([, id]) => id);
    await eventually('twenty signs of life', () => ids().length >= 20);
    await take(app, { logId: 'a' });
    const { positions } = app.store;
    const { lines } = await app.store.readFeed({ zones: [7], after: await positions.oldest(), limit: 1 });
    const event = lines[0] as FeedLine;
    const reached = async () => (await positions.decode(ids().at(-1) ?? '')) as FeedPosition;
    await eventually('the id moves, although nothing matched', async () => positions.compare(await reached(), event) >= 0);
    const resumed = await openTail(app, { lastEventId: ids().at(-1) ?? '' });
    await take(app, { logId: 'b' });
    await eventually('the next event', () => resumed.rows.length > 0);
    expect(resumed.logIds()).toEqual(['b']);
  });

  test('goes on behind the id that it is given, in the header or, before the first event, in the query', async () => {
    app = await startApp();
    const first = await openTail(app);
    await take(app, { logId: 'a' }, { logId: 'b' });
    await eventually('both', () => first.rows.length === 2);
    await take(app, { logId: 'c' });
    await app.store.settle('flush');
    await take(app, { logId: 'd' });
    const byQuery = await openTail(app, { lastEventId: first.ids[0] ?? '' });
    const byHeader = await openRaw(app, tailPath({ lastEventId: first.ids[0] ?? '' }), `Last-Event-ID: ${first.ids[1]}\r\n`);
    await take(app, { logId: 'e' });
    await eventually('all', () => byQuery.rows.length === 4 && byHeader.text().includes('"logId":"e"'));
    expect(byQuery.logIds()).toEqual(['b', 'c', 'd', 'e']);
    expect([...byHeader.text().matchAll(/^data: \{"logId":"(\w)"/gm)].map(([, id]) => id)).toEqual(['c', 'd', 'e']);
  });

  test('misses nothing and repeats nothing, when clients come back again and again while events come in', async () => {
    app = await startApp();
    const all = await openTail(app);
    const got: string[] = [];
    // It is open before the first event comes, so that all of them are got in the end.
    let tail = await openTail(app);
    let lastEventId: string | undefined;
    const sending = (async () => {
      for (let batch = 0; batch < 30; batch += 1) await take(app, ...Array.from({ length: 20 }, (_, at) => ({ logId: `${batch}-${at}` })));
    })();
    for (let round = 0; round < 8; round += 1) {
      const wanted = Math.min(75, 600 - got.length);
      await eventually('some events', () => tail.rows.length >= wanted);
      tail.close();
      got.push(...tail.logIds());
      lastEventId = tail.ids.at(-1) ?? lastEventId;
      tail = await openTail(app, lastEventId === undefined ? {} : { lastEventId });
    }
    tail.close();
    await sending;
    await eventually('all events', () => all.rows.length === 600);
    expect(new Set(all.logIds()).size).toBe(600);
    expect(got).toEqual(all.logIds().slice(0, got.length));
    expect(got.length).toBeGreaterThanOrEqual(8 * 75);
  });

  test('has an event that came while the store was asked how far it is', async () => {
    app = await startApp();
    const tail = await openTail(app);
    const { positions } = app.store;
    const newest = positions.newest.bind(positions);
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const asked: unknown[] = [];
    Object.assign(positions, {
      newest: async () => {
        const answer = await newest();
        asked.push(answer);
        // The first call finds the first event, the second one that nothing is new.
        if (asked.length > 1) await held;
        return answer;
      },
    });
    await take(app, { logId: 'a' });
    await eventually('the hub asks whether there is more', () => asked.length === 2);
    await take(app, { logId: 'b' });
    letGo();
    await eventually('both', () => tail.rows.length === 2);
  });

  test('has what came between its last look at the store and its joining the others', async () => {
    app = await startApp();
    const other = await openTail(app);
    await take(app, { logId: 'a' }, { logId: 'b' });
    await eventually('both', () => other.rows.length === 2);
    const readFeed = app.store.readFeed.bind(app.store);
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    // One that is brought up to date can be interrupted; the reading for all is not.
    app.store.readFeed = async (request, options) => {
      const page = await readFeed(request, options);
      if (options?.signal !== undefined) await held;
      return page;
    };
    const resumed = await openTail(app, { lastEventId: other.ids[0] ?? '' });
    await take(app, { logId: 'c' });
    await eventually('the other has it', () => other.rows.length === 3);
    letGo();
    await take(app, { logId: 'd' });
    await eventually('all', () => resumed.rows.length >= 3 && other.rows.length === 4);
    expect(resumed.logIds()).toEqual(['b', 'c', 'd']);
    expect(other.logIds()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('twenty watchers have what each of them asked for', async () => {
    app = await startApp();
    const tails = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        openTail(app, { zone: 1 + (index % 5), search: { filters: [{ field: 'ruleId', op: 'eq', value: [`r${index % 4}`] }] } }),
      ),
    );
    expect(await watchers(app)).toBe(20);
    const events = Array.from({ length: 1_000 }, (_, at) => ({ logId: `e${at}`, shieldZoneId: 1 + (at % 5), ruleId: `r${at % 4}` }));
    for (let from = 0; from < events.length; from += 100) await take(app, ...events.slice(from, from + 100));
    for (const [index, tail] of tails.entries()) {
      const expected = events.filter((_, at) => at % 5 === index % 5 && at % 4 === index % 4).map(({ logId }) => logId);
      await eventually(`the events of watcher ${index}`, () => tail.rows.length === expected.length);
      expect(tail.logIds()).toEqual(expected);
    }
    for (const tail of tails) tail.close();
    await eventually('all are gone', async () => (await watchers(app)) === 0);
    expect(await metric(app, 'shieldlog_tail_events_total\\{verdict="sent"\\}')).toBe(1_000);
  });
});
