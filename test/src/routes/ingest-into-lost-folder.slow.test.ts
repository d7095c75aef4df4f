import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fixtures/eventually.ts';
import { eventLine, ingest, lastHour, search, startApp } from '../running-app.ts';

test('an upload that cannot be stored is told to come again, then it is stored once, and the log says what was wrong', async () => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  const lines = Array.from({ length: 3 }, (_, index) => eventLine({ logId: `e${index}` })).join('');
  const journal = join(app.dataDir, 'journal');
  rmSync(journal, { recursive: true });
  const { status, headers, body } = await ingest(app, lines);
  expect([status, body.errorKey, headers.get('content-type')]).toEqual([
    503,
    'store.append_failed',
    'application/problem+json; charset=utf-8',
  ]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(body).toMatchObject({ title: 'The events could not be stored', detail: expect.stringContaining('stores nothing twice') });
  expect(app.log.find(({ msg }) => msg === 'events could not be stored')).toMatchObject({
    path: '/ingest/events',
    err: { message: expect.stringContaining('ENOENT') },
  });
  mkdirSync(journal);
  await eventually('the store takes events again', async () => (await ingest(app, lines)).status === 202);
  expect((await search(app, lastHour())).body.total).toBe(3);
});
