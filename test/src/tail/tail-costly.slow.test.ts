import { afterEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { addressOf, killAll, startCli } from '../cli/cli-process.ts';
import { ask, eventLine, ingest, startApp } from '../running-app.ts';
import { metric, openRaw, openTail, tailPath, take, watchers } from './tail-client.ts';

afterEach(killAll);

const MAX_TAILS = 64;

/**
 * V8's own search compares each of these almost whole at every offset of the urls below: the letter that differs is before the last
 * 250, and V8 has tables of those only.
 */
const COSTLY = {
  filters: [
    { field: 'url', op: 'contains', value: Array.from({ length: 40 }, (_, index) => `${'a'.repeat(38)}${10 + index}${'a'.repeat(260)}`) },
  ],
};

/** Asks for /healthz again and again until `stop`; resolves with how long the slowest answer took, in ms. */
function watchHealth(url: string): { readonly stop: () => Promise<number> } {
  let isOver = false;
  const watching = (async () => {
    let slowest = 0;
    while (!isOver) {
      const began = performance.now();
      await ask({ url }, '/healthz');
      slowest = Math.max(slowest, performance.now() - began);
    }
    return slowest;
  })();
  return {
    stop() {
      isOver = true;
      return watching;
    },
  };
}

test('tails with costly conditions hold up neither other tails nor anybody else', async () => {
  const url = await addressOf(startCli(['serve', '--data-dir', temporaryFolder(), '--port', '0']));
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const path = tailPath({ search: COSTLY });
  // An answer that nobody holds is collected, and its connection closed.
  const held: Response[] = [];
  while (held.length < MAX_TAILS - 1) held.push(await fetch(`${url}${path}`, { signal: leaving.signal }));
  const other = await openTail({ url }, { zone: 8 });
  const health = watchHealth(url);
  const costly = Array.from({ length: 80 }, (_, index) => eventLine({ logId: `costly-${index}`, url: 'a'.repeat(60_000) })).join('');
  expect((await ingest({ url }, costly + eventLine({ shieldZoneId: 8, logId: 'other' }))).status).toBe(202);
  await eventually('the other tail has its event', () => other.logIds().includes('other'));
  // A program that is held up answers after minutes; a busy machine needs seconds at most.
  expect(await health.stop()).toBeLessThan(20_000);
  expect(new Set(held.map(({ status }) => status))).toEqual(new Set([200]));
});

test('a tail that costs more than its share is told how many events it missed, gets later ones, and all when it comes back', async () => {
  const app = await startApp({ tailLimits: { workPerSecond: 100_000 } });
  onTestFinished(() => app.stop());
  const search = { filters: [{ field: 'url', op: 'contains', value: ['wanted text'] }] };
  const stream = await openRaw(app, tailPath({ search }));
  const events = Array.from({ length: 20 }, (_, index) => ({ logId: `c${index}`, url: `${'a'.repeat(60_000)}wanted text` }));
  await take(app, ...events);
  const told = () => [...stream.text().matchAll(/^event: dropped\ndata: \{"count":(\d+),"reason":"costly"\}$/gm)];
  await eventually('it is told', () => told().length > 0);
  await eventually('it has another event', async () => {
    await take(app, { logId: `later-${Date.now()}`, url: 'wanted text' });
    return stream.text().includes('"logId":"later-');
  });
  const lost = await metric(app, 'shieldlog_tail_events_total\\{verdict="dropped"\\}');
  expect(lost).toBe(told().reduce((sum, [, count]) => sum + Number(count), 0));
  const [, begin = ''] = /^id: (\S+)\nevent: ready$/m.exec(stream.text()) ?? [];
  stream.socket.destroy();
  const resumed = await openTail(app, { search, lastEventId: begin });
  await eventually('all of them', () => events.every(({ logId }) => resumed.logIds().includes(logId)));
  expect(resumed.dropped).toEqual([]);
});

test('an event that costs a tail too much is left out, and others are not', async () => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  const clauses = Array.from({ length: 50 }, (_, index) => ({ field: 'url', op: 'wildcard', value: [`*${'x'.repeat(7)}${index}*`] }));
  const stream = await openRaw(
    app,
    tailPath({ search: { filters: [{ field: 'url', op: 'wildcard', value: clauses.flatMap(({ value }) => value) }] } }),
  );
  await take(app, { logId: 'large', url: `${'y'.repeat(60_000)}xxxxxxx7` }, { logId: 'small', url: 'xxxxxxx7' });
  await eventually('the small one', () => stream.text().includes('"logId":"small"'));
  expect(stream.text()).not.toContain('"logId":"large"');
  expect(stream.text()).toMatch(/event: dropped\ndata: \{"count":1,"reason":"costly"\}\n\nid: \S+\nevent: event\n/);
});

test('a tail that is asked for with a body ends when its client closes its half of the connection', async () => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  const { socket } = await openRaw(app, tailPath(), 'Content-Length: 600000\r\n');
  expect(await watchers(app)).toBe(1);
  socket.end(Buffer.alloc(600_000, 'x'));
  await eventually('it is gone', async () => (await watchers(app)) === 0);
});
