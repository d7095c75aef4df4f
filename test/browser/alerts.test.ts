import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { type HttpListener, httpListener } from '../src/sinks/http-listener.ts';
import { violationsOf } from './accessibility.ts';
import { type PageOptions, pagesOf } from './watched-page.ts';

const MINUTE = 60_000;
/** The begin of a window of ten minutes, a while ago. */
const FROM = Math.floor(Date.now() / (5 * MINUTE)) * 5 * MINUTE - 20 * MINUTE;
const ADDRESS = '198.51.100.7';
const READER = 'key-of-one-who-reads';
const WRITER = 'key-of-every-zone-00';

let app: RunningApp;
let listener: HttpListener;
let refusing: HttpListener;
let received = 0;
let folder: string;
const openPage = pagesOf(() => app.url);

const RULES = {
  scanner: 'name: scanner\nzones: 7\nby: [ip, country]\nkind: count\nat_least: 5\nwindow: 10m\nseverity: high\nreceivers: [soc, gone]',
  elsewhere: 'name: elsewhere\nzones: 8\nkind: count\nat_least: 1\nwindow: 10m',
};

beforeAll(async () => {
  listener = await httpListener(() => {
    received += 1;
    return { status: 200 };
  });
  refusing = await httpListener(() => ({ status: 404 }));
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-rules-'));
  const [ALERTS, ALERT_RECEIVERS] = [join(folder, 'rules'), join(folder, 'receivers.yaml')];
  mkdirSync(ALERTS);
  for (const [name, text] of Object.entries(RULES)) writeFileSync(join(ALERTS, `${name}.yaml`), text);
  writeFileSync(ALERT_RECEIVERS, `soc:\n  kind: webhook\n  url: ${listener.url}\ngone:\n  kind: webhook\n  url: ${refusing.url}\n`);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'alerts.sqlite'), 'no database '.repeat(1_000));
  app = await startApp({ dataDir, env: { ALERTS, ALERT_RECEIVERS, ACCESS_KEYS: `all:${WRITER}:*,reader:${READER}:*:read` } });
  const attack = Array.from({ length: 5 }, (_, nth) => {
    return eventLine({ shieldZoneId: 7, ip: ADDRESS, action: 'blocked', timestamp: FROM + 6 * MINUTE + nth * 1_000 });
  });
  const other = eventLine({ shieldZoneId: 8, ip: '203.0.113.1', timestamp: FROM + 6 * MINUTE });
  await ingest(app, [...attack, other].join(''), { accesskey: WRITER });
  await eventually('the alert is told to its receivers', async () => {
    const { deliveries } = (await ask(app, '/alerts', { headers: { accesskey: READER } })).body;
    return received >= 1 && deliveries.length === 2 && deliveries[0].outcome === 'refused';
  });
});

afterAll(async () => {
  await app?.stop();
  await listener?.stop();
  await refusing?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const withKey = (key: string): string => `sessionStorage.setItem('shieldlog access key', '${key}');`;

async function openAlerts(query: string, options: PageOptions = {}) {
  const watched = await openPage(`clock=utc&${query}`, { initScript: withKey(WRITER), ...options });
  await watched.page.getByRole('button', { name: 'Alerts', exact: true }).click();
  const dialog = watched.page.getByRole('dialog', { name: 'Alerts' });
  await dialog.getByText('scanner', { exact: true }).waitFor();
  return { ...watched, dialog };
}

test('alerts are listed with their group, their state and what was delivered, and lead to their time', async () => {
  const { page, dialog } = await openAlerts('zone=7&last=6h');
  const line = dialog.getByRole('listitem').filter({ hasText: `scanner ip ${ADDRESS}, country (none)` });
  const at = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d';
  const messages = `gone told: refused ${at} \\(.*404[^;]*; soc told: delivered ${at}$`;
  await line.getByText(new RegExp(`^high; 2 hits; open; to soc, gone; ${messages}`)).waitFor();
  const rule = dialog.getByRole('listitem').filter({ hasText: /^elsewhere medium, 1 open/ });
  await rule.filter({ hasText: '100% of 1 event read' }).waitFor();
  await dialog.getByText('Rules could not go on from what was kept: the state was damaged (1 time).', { exact: true }).waitFor();
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    expect(await violationsOf(page)).toEqual([]);
  }
  await line.getByRole('button', { name: 'Show its time: scanner' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe(new Date(FROM).toISOString());
});

test('a group is silenced for some hours with a reason, and the silence ends', async () => {
  const { page, dialog } = await openAlerts('zone=7', { viewport: { width: 360, height: 740 } });
  const line = dialog.getByRole('listitem').filter({ hasText: `scanner ip ${ADDRESS}` });
  await line.getByText('Silence…').click();
  await line.getByRole('combobox', { name: 'for' }).selectOption('4h');
  await line.getByRole('textbox', { name: 'because' }).fill('a \u202eload test');
  const before = Date.now();
  await page.keyboard.press('Enter');
  const silence = dialog.getByRole('listitem').filter({ hasText: 'load test' });
  await silence.waitFor();
  const { silences } = (await ask(app, '/alerts', { headers: { accesskey: READER } })).body;
  expect(silences).toMatchObject([{ rule: 'scanner', group: { ip: ADDRESS, country: '' }, reason: 'a \u202eload test' }]);
  expect(Math.abs(silences[0].to - before - 4 * 60 * MINUTE)).toBeLessThan(MINUTE);
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBeLessThanOrEqual(0);
  expect(await violationsOf(page)).toEqual([]);
  await silence.getByRole('button', { name: 'End the silence of scanner' }).click();
  await silence.waitFor({ state: 'detached' });
});

test('a key that may only read is told that it cannot silence', async () => {
  const { dialog } = await openAlerts('zone=7', { initScript: withKey(READER), expectsFailures: true });
  await dialog.getByText('Silence…').first().click();
  await dialog.getByRole('textbox', { name: 'because' }).first().fill('why');
  await dialog.getByRole('button', { name: 'Silence', exact: true }).first().click();
  await expect.poll(() => dialog.getByRole('alert').textContent()).toContain('manage');
});

test('the histogram marks the alerts about its zones, for the eye and for screen readers', async () => {
  const during = (from: number): string => {
    return `clock=utc&zone=7&from=${new Date(from).toISOString()}&to=${new Date(from + 15 * MINUTE).toISOString()}`;
  };
  const { page } = await openPage(during(FROM), { initScript: withKey(READER) });
  const plot = page.getByRole('slider', { name: 'Events over time' });
  const wordsAt = async (key: string): Promise<string> => {
    await plot.press(key);
    return (await plot.getAttribute('aria-valuetext')) ?? '';
  };
  await expect.poll(() => wordsAt('Home')).toMatch(/: 0 events; alerts: scanner$/);
  expect(await wordsAt('End')).toMatch(/; alerts: scanner$/);
  const reds = `(() => {
    const canvas = document.querySelector('.plot canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] === 0xb4 && data[at + 1] === 0x23 && data[at + 2] === 0x18) count += 1;
    return count;
  })()`;
  expect(await page.evaluate(reds)).toBeGreaterThan(100);
  await page.goto(`${app.url}/?${during(FROM - 15 * MINUTE)}`);
  await page.getByText('No event').first().waitFor();
  expect(await wordsAt('Home')).not.toContain('alerts');
  expect(await page.evaluate(reds)).toBe(0);
});
