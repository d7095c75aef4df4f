import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import type { EventStore, FeedPosition } from '../../../store/event-store.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { openConnection } from '../http/raw-connection.ts';
import { type RunningApp, startApp } from '../running-app.ts';
import { metric, openRaw, openTail, tailPath, take, watchers } from './tail-client.ts';

let app: RunningApp;
/** How often the store was asked for something. */
let asked = 0;

afterEach(() => app.stop());

const PADDING = 'x'.repeat(20_000);

const dropped = (): Promise<number> => metric(app, 'shieldlog_tail_events_total\\{verdict="dropped"\\}');

describe('a client that does not read', () => {
  test('loses events, is told how many when it reads again, and keeps nobody waiting', async () => {
    app = await startApp({ tailLimits: { maxBufferedBytes: 256 * 1024 } });
    const slow = await openRaw(app);
    slow.socket.pause();
    const quick = await openTail(app);
    let sent = 0;
    while ((await dropped()) === 0 && sent < 2_000) {
      await take(app, ...Array.from({ length: 50 }, (_, at) => ({ logId: `e${sent + at}`, log: { PADDING } })));
      sent += 50;
      await eventually('the other one has them all', () => quick.rows.length === sent);
    }
    const lost = await dropped();
    expect(lost).toBeGreaterThan(0);
    slow.socket.resume();
    const told = () =>
      [...slow.text().matchAll(/^event: dropped\ndata: \{"count":(\d+),"reason":"unread"\}$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    await eventually('it is told', () => told() > 0);
    await take(app, { logId: 'after' });
    await eventually('it goes on', () => slow.text().includes('"logId":"after"'));
    const got = [...slow.text().matchAll(/^data: \{"logId":"e(\d+)"/gm)].map(([, number]) => Number(number));
    expect(told()).toBe(lost);
    expect(got.length + lost).toBe(sent);
    expect(got).toEqual(got.toSorted((a, b) => a - b));
    expect(quick.dropped).toEqual([]);
    // The id before the gap brings them back.
    const before = /id: (\S+)\nevent: event\ndata: [^\n]+\n\nevent: dropped/.exec(slow.text())?.[1] ?? '';
    const resumed = await openTail(app, { lastEventId: before });
    await eventually('what was left out', () => resumed.logIds().includes('after'));
    expect(resumed.rows.length).toBeGreaterThan(lost);
  });

  test('for long is cut off, and its slot is free', async () => {
    app = await startApp({ tailLimits: { heartbeatMs: 50, maxBufferedBytes: 64 * 1024 } });
    const slow = await openRaw(app);
    slow.socket.pause();
    for (let round = 0; round < 40 && (await watchers(app)) > 0; round += 1) {
      await take(app, ...Array.from({ length: 50 }, (_, at) => ({ logId: `${round}-${at}`, log: { PADDING } })));
    }
    await eventually('it is gone', async () => (await watchers(app)) === 0);
    const closed = once(slow.socket, 'close');
    slow.socket.resume();
    await closed;
    // The program does not keep the bytes that the client had not read.
    expect(slow.raw().endsWith('0\r\n\r\n')).toBe(false);
  });

  test('gets everything that it resumes for, at its own pace', async () => {
    app = await startApp({ tailLimits: { maxBufferedBytes: 64 * 1024 } });
    const first = await openTail(app);
    await take(app, { logId: 'first' });
    await eventually('the first', () => first.ids.length === 1);
    first.close();
    for (let batch = 0; batch < 11; batch += 1) {
      await take(app, ...Array.from({ length: 100 }, (_, at) => ({ logId: `e${batch * 100 + at}`, log: { PADDING } })));
    }
    const slow = await openRaw(app, tailPath({ lastEventId: first.ids[0] ?? '' }));
    slow.socket.pause();
    const quick = await openTail(app);
    await take(app, { logId: 'after' });
    await eventually('others do not wait', () => quick.rows.length === 1);
    slow.socket.resume();
    await eventually('all of it', () => slow.raw().includes('"logId":"after"'));
    const got = [...slow.text().matchAll(/^data: \{"logId":"e(\d+)"/gm)].map(([, number]) => Number(number));
    expect(got).toEqual(Array.from({ length: 1_100 }, (_, at) => at));
    expect(slow.text()).not.toContain('event: dropped');
  });

  test('one event larger than what is kept for a client still reaches it', async () => {
    app = await startApp({ tailLimits: { maxBufferedBytes: 1024 } });
    const tail = await openTail(app);
    await take(app, { logId: 'large', log: { text: 'y'.repeat(500_000) } });
    await eventually('it comes', () => tail.rows.length === 1);
    expect(tail.dropped).toEqual([]);
  });
});

describe('a stream ends', () => {
  test('at once when the client goes away, and is counted no more', async () => {
    app = await startApp();
    const { socket } = await openRaw(app);
    expect(await watchers(app)).toBe(1);
    socket.destroy();
    await eventually('nobody is left', async () => (await watchers(app)) === 0);
    await take(app, { logId: 'a' });
    expect(app.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  test('before it begins when the client goes away while the store is asked for its position', async () => {
    app = await startApp();
    const { positions } = app.store;
    const afterExpiry = positions.afterExpiry.bind(positions);
    const [asking, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    app.app.server.once('request', (_request, response) => response.once('close', gone.resolve));
    Object.assign(positions, {
      afterExpiry: async (...asked: Parameters<typeof afterExpiry>) => {
        asking.resolve();
        await gone.promise;
        return afterExpiry(...asked);
      },
    });
    const client = await openConnection(app);
    client.write(`GET ${tailPath()} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await asking.promise;
    client.destroy();
    await gone.promise;
    await expect.poll(() => watchers(app)).toBe(0);
  });

  test('properly when the program stops, which does not wait for clients that do not read', async () => {
    app = await startApp({ tailLimits: { maxBufferedBytes: 64 * 1024 } });
    const { socket, raw } = await openRaw(app);
    const stuck = await openRaw(app);
    stuck.socket.pause();
    for (let sent = 0; (await dropped()) < 500; sent += 50) {
      await take(app, ...Array.from({ length: 50 }, (_, at) => ({ logId: `e${sent + at}`, log: { PADDING } })));
    }
    await eventually('the other one has read everything', () => raw().endsWith('\n\n\r\n'));
    const ended = once(socket, 'end');
    await app.app.close();
    await ended;
    expect(raw().endsWith('0\r\n\r\n')).toBe(true);
  });
});

describe('when the store', () => {
  test('cannot be read for a moment, it is tried again, nothing is missed, and the log says so', async () => {
    app = await startApp();
    const tail = await openTail(app);
    await take(app, { logId: 'before' });
    await eventually('the client is up to date', () => tail.rows.length === 1);
    const readFeed = app.store.readFeed.bind(app.store);
    let failures = 0;
    app.store.readFeed = (request, options) => {
      failures += 1;
      return failures > 1 ? readFeed(request, options) : Promise.reject(new Error('a passing defect'));
    };
    await take(app, { logId: 'a' });
    await eventually('the event', () => tail.rows.length === 2);
    const told = app.log.filter(({ err }) => (err as Error | undefined)?.message === 'a passing defect');
    expect(told.map(({ msg }) => msg)).toEqual(['the live tail could not read new events; it tries again']);
    expect(tail.opened()).toBe(1);
  });

  test.each([
    [
      'cannot be read while a client is brought up to date',
      (store: EventStore) => Object.assign(store, { readFeed: () => Promise.reject(new Error('a defect')) }),
    ],
    [
      'has dropped what a client was about to get',
      ({ positions }: EventStore) =>
        Object.assign(positions, {
          afterExpiry: async (_zones: unknown, position: FeedPosition) => (asked++ === 0 ? undefined : position),
        }),
    ],
  ] as const)('%s, its stream ends properly, so that it comes back and is told', async (_what, alter) => {
    app = await startApp();
    const before = await openTail(app);
    await take(app, { logId: 'a' }, { logId: 'b' });
    await eventually('both', () => before.rows.length === 2);
    before.close();
    await eventually('nobody is left', async () => (await watchers(app)) === 0);
    asked = 0;
    alter(app.store);
    const { raw } = await openRaw(app, tailPath({ lastEventId: before.ids[0] ?? '' }));
    await eventually('the end', () => raw().endsWith('0\r\n\r\n'));
    expect(raw()).not.toContain('event: event');
    expect(await watchers(app)).toBe(0);
  });
});
