import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { drawnLines } from './event-table.ts';
import { PAGE, pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

beforeAll(async () => {
  app = await startApp();
  for (const ip of ['192.0.2.1', '192.0.2.1', '198.51.100.7']) await ingest(app, eventLine({ ip, country: 'NL', action: 'blocked' }));
});

afterAll(() => app?.stop());

test('the page shows the events that there are, keeps those of an address, and comes back, by requests that are described', async () => {
  const { page, lastQuestion } = await openPage();
  const events = async (): Promise<number> => (await drawnLines(page)).size;
  await expect.poll(events).toBe(3);
  await page.getByRole('region', { name: 'Fields' }).getByRole('button', { name: '192.0.2.1' }).click();
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await expect.poll(events).toBe(2);
  expect(lastQuestion().filters).toEqual([{ field: 'ip', op: 'eq', value: ['192.0.2.1'] }]);
  expect(page.url()).toBe(`${app.url}${PAGE}?q=ip%3A192.0.2.1`);
  await page.goBack();
  await expect.poll(events).toBe(3);
});
