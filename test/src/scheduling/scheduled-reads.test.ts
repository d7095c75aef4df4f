import { expect, onTestFinished, test } from 'vitest';
import { LIGHT_SEATS, MAX_WAITING_READS, SEATS } from '../../../src/scheduling/fair-queue.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

const [ONE, TWO] = [{ accesskey: 'key-number-one-of-two' }, { accesskey: 'key-number-two-of-two' }];

/** An app with two keys in which a search for the text `slow` ends when the test says so. */
async function appWithSlowSearches() {
  const app = await startApp({ env: { ACCESS_KEYS: `one:${ONE.accesskey}:*,two:${TWO.accesskey}:*` } });
  onTestFinished(() => app.stop());
  await ingest(app, eventLine({ logId: 'a', ua: 'slow' }), TWO);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const find = app.store.search.bind(app.store);
  let begun = 0;
  app.store.search = async (plan, options) => {
    if (plan.where.kind !== 'everything') {
      begun += 1;
      await released;
    }
    return await find(plan, options);
  };
  onTestFinished(() => release());
  return { app, release, begun: () => begun };
}

const SLOW = lastHour({ filters: [{ field: 'ua', op: 'contains', value: ['slow'] }] });

const asked = (app: RunningApp, count: number) => Array.from({ length: count }, () => search(app, SLOW, ONE));

test('a key that asks for much does not keep another one waiting, and is told when too much of it waits', async () => {
  const { app, release, begun } = await appWithSlowSearches();
  const most = SEATS + LIGHT_SEATS + MAX_WAITING_READS;
  const all = asked(app, most);
  await expect.poll(begun).toBe(SEATS + LIGHT_SEATS);
  await expect
    .poll(async () => (await ask(app, '/metrics', { headers: ONE })).text)
    .toContain(`shieldlog_reads_waiting ${MAX_WAITING_READS}\n`);
  const refused = await search(app, SLOW, ONE);
  expect([refused.status, refused.body.errorKey, refused.headers.get('retry-after')]).toEqual([429, 'caller.busy', '1']);
  const other = search(app, lastHour(), TWO);
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...ONE }, body: lastHour() };
  const exported = ask(app, '/shield/event-logs/7/export', init);
  release();
  // The slots of exports bound their number.
  expect((await exported).status).toBe(200);
  expect((await other).body.total).toBe(1);
  expect((await Promise.all(all)).map(({ status, body }) => [status, body.total])).toEqual(all.map(() => [200, 1]));
});

test('health and metrics do not wait, and a search that goes on after its client has gone is counted', async () => {
  const { app, begun } = await appWithSlowSearches();
  const gone = new AbortController();
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...ONE }, body: SLOW };
  const lost = Array.from({ length: 2 }, () => ask(app, '/shield/event-logs/7/search', { ...init, signal: gone.signal }));
  await expect.poll(begun).toBe(2);
  gone.abort();
  for (const one of lost) await expect(one).rejects.toThrow();
  await expect.poll(async () => (await ask(app, '/metrics', { headers: ONE })).text).toContain('shieldlog_reads_left_over 2\n');
  const ready = await ask(app, '/readyz', { headers: ONE });
  expect([ready.status, ready.body.reasons]).toEqual([200, ['2 reads go on after they were interrupted']]);
});
