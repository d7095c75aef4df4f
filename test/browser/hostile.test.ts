import { afterAll, beforeAll, expect, test } from 'vitest';
import { DIMENSIONS } from '../../query/event-fields.ts';
import { HOSTILE_STRINGS } from '../corpus/hostile-strings.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { linesAround } from './event-table.ts';
import { pagesOf } from './watched-page.ts';

let app: RunningApp;
const openPage = pagesOf(() => app.url);

const RUN = 'globalThis.hostileRan = true';

const IMAGE = `<img src=x onerror="${RUN}">`;

/** Each would run a script, or show something that is not there, where it is taken for markup, an address or a style. */
const PAYLOADS = [
  `<script>${RUN}</script>`,
  IMAGE,
  `<svg onload="${RUN}"></svg>`,
  `"><iframe srcdoc="<script>parent.hostileRan = true</script>"></iframe>`,
  `' autofocus onfocus='${RUN}' x='`,
  `javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `\${${RUN}}`,
  `{{constructor.constructor('${RUN}')()}}`,
  `</style><style>body{display:none}</style>`,
  `url(javascript:${RUN})`,
  '__proto__',
  'constructor',
];

/** In every field, and in the log as text, as the name of a member and as a list. The times are in the order of the payloads. */
function hostileEvent(payload: string, index: number): string {
  const fields = Object.fromEntries(DIMENSIONS.filter((field) => field !== 'asn').map((field) => [field, payload]));
  const log = JSON.stringify({
    Message: payload,
    Url: payload,
    Headers: [{ Name: payload, Value: payload }],
    [payload]: { [payload]: payload },
  });
  // A log id has at most 512 bytes, and a letter at most four.
  const logId = `${index} ${[...payload].slice(0, 100).join('')}`;
  const line = eventLine({ ...fields, logId, ruleName: payload, timestamp: Date.now() - 60_000 - index * 1000 });
  return `${line.trimEnd().slice(0, -1)},"log":${log}}\n`;
}

beforeAll(async () => {
  app = await startApp();
  const texts = HOSTILE_STRINGS.map(({ text }) => text).filter((text) => text.isWellFormed() && text.length < 2_000);
  // The image is the largest group, and so the first one.
  const sent = [...PAYLOADS, ...texts, IMAGE, IMAGE];
  const { body } = await ingest(app, sent.map(hostileEvent).join(''));
  expect(body.accepted).toBe(sent.length);
});

afterAll(() => app?.stop());

test('nothing in an event runs or becomes markup: in tables, fields, groups, the event, its log, menus and conditions', async () => {
  const { page } = await openPage('columns=time,url,ua,ruleName,feature,action,ruleId,country,logId');
  let dialogs = 0;
  page.on('dialog', (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  await linesAround(page, PAYLOADS.length - 1);
  const drawer = page.getByRole('dialog', { name: 'Event', exact: true });
  await page.locator('[role=grid] [aria-rowindex="2"]').click();
  for (const [index, payload] of PAYLOADS.entries()) {
    await expect.poll(() => drawer.textContent()).toContain(`${index} ${payload}`);
    for (const line of await drawer.locator('[role=treeitem][aria-expanded=false]').all()) await line.click();
    expect(await drawer.getByRole('treeitem').first().textContent()).toContain(payload);
    await drawer.getByRole('button', { name: 'Older event' }).click();
  }
  await page.keyboard.press('Escape');
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('url');
  await page.getByRole('grid', { name: 'Groups' }).getByRole('button', { name: IMAGE, exact: true }).first().click();
  expect(await page.getByRole('menu').textContent()).toContain(IMAGE);
  await page.getByRole('menuitem', { name: 'Filter in' }).click();
  await expect.poll(() => page.getByRole('list', { name: 'Conditions' }).textContent()).toContain('url:"<img src=x onerror=');
  expect(await page.evaluate('globalThis.hostileRan')).toBeUndefined();
  expect(dialogs).toBe(0);
  expect(await page.locator('iframe, object, embed, body img, body script, a[href^="javascript:"], a[href^="data:"]').count()).toBe(0);
  expect(await page.title()).toMatch(/^url:"<img src=x onerror=.* · shieldlog$/);
  expect(new URL(page.url()).origin).toBe(app.url);
  expect(await page.getByRole('heading', { name: 'shieldlog' }).isVisible()).toBe(true);
});
