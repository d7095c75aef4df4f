import { expect, onTestFinished, test } from 'vitest';
import { ask, eventLine, ingest, lastHour, startApp } from '../running-app.ts';

test.each([
  ['unflushed', {}],
  ['unflushed', { query: 'agent' }],
  ['flushed', {}],
  ['flushed', { query: 'agent' }],
])('a page past the end of %s events has no rows, and the true total, with %j', async (state, condition) => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  await ingest(app, Array.from({ length: 7 }, (_, index) => eventLine({ logId: `e${index}`, ua: 'agent' })).join(''));
  if (state === 'flushed') await app.store.settle('flush');
  for (const [what, pageSize] of [
    ['search', 2],
    ['explore', 2],
    ['search', 500],
  ] as const) {
    for (const page of [3, 4, 100, 2_000_000]) {
      const body = lastHour({ page, pageSize, ...condition });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const answer = await ask(app, `/shield/event-logs/7/${what}`, init);
      const rows = pageSize === 2 && page === 3 ? 1 : 0;
      expect([answer.status, answer.body.rows.length, answer.body.total, answer.body.page]).toEqual([200, rows, 7, page]);
    }
  }
});
