import type { Locator } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { DEMO_ATTACKS, type DemoAttack } from '../../ingest/demo/demo-schedule.ts';
import { stretchesOf, tracesOf } from '../ingest/demo/attack-traces.ts';
import { pagesOf, type WatchedPage } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const HOUR_MS = 3_600_000;

/** The button of the peak that an attack has made, one that is whole in the first view. The page shows times in UTC. */
async function peakOf({ page }: WatchedPage, attack: DemoAttack): Promise<Locator> {
  const now = Date.now();
  // At the edges of a window stretches are cut, and what is left may be too short for a peak.
  const stretch = stretchesOf(attack, { fromMs: now - 13 * HOUR_MS, toMs: now }).find(
    ({ fromMs, toMs }) => fromMs >= now - 11 * HOUR_MS && toMs <= now - HOUR_MS,
  );
  if (stretch === undefined) throw new Error(`there is no ${attack} in this day`);
  const middle = new Date((stretch.fromMs + stretch.toMs) / 2).toISOString().slice(0, 19).replace('T', ' ');
  for (const button of await page.getByRole('list', { name: 'Peaks' }).getByRole('button').all()) {
    const [from = '', to = ''] = (await button.getAttribute('title'))?.match(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g) ?? [];
    if (from <= middle && middle < to) return button;
  }
  throw new Error(`no peak is shown at ${middle}, where the ${attack} is`);
}

/** To the second, when the first event with the value of the first line was, in the bars of the peak that is chosen or the one before. */
async function beginOf({ page, lastQuestion }: WatchedPage): Promise<string> {
  const { selection, histogram } = lastQuestion();
  if (selection === undefined) throw new Error('no peak is chosen');
  const line = page.getByRole('region', { name: 'What is different' }).getByRole('row').nth(1);
  const field = await line.getByRole('rowheader').textContent();
  const value = await line.locator('.value').evaluate((button) => button.childNodes[0]?.textContent?.trim());
  const window = { from: selection.from - histogram.width, to: selection.to + histogram.width };
  const response = await fetch(`${inject('demoUrl')}/shield/event-logs/all/explore`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...window, filters: [{ field, op: 'eq', value: [value] }], groupBy: [field] }),
  });
  const { groups } = (await response.json()) as { readonly groups: readonly { readonly firstSeen: number }[] };
  return new Date(groups[0]?.firstSeen ?? 0).toISOString().slice(0, 19).replace('T', ' ');
}

test.each(DEMO_ATTACKS)(
  'one click tells the networks of the attack "%s" and when it began, to the second; three lead to its events',
  async (attack) => {
    const { asns } = tracesOf(attack);
    const watched = await openPage('', { timezoneId: 'UTC' });
    const { page, questions, actions } = watched;
    await page.getByRole('region', { name: 'Fields' }).waitFor();
    await (await peakOf(watched, attack)).click();
    const networks = page
      .getByRole('region', { name: 'What is different' })
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name: 'asn' }) });
    await networks.first().waitFor();
    const named = await networks.getByRole('button').allTextContents();
    expect(
      named
        .slice(0, asns.length)
        .map((text) => text.trim())
        .sort(),
    ).toEqual(asns);
    await page.getByText('the first event at').waitFor();
    expect(await page.getByText('the first event at').textContent()).toContain(`the first event at ${await beginOf(watched)}`);
    expect(await actions()).toBe(1);
    await networks.getByRole('button').first().click();
    await page.getByRole('menuitem', { name: 'Filter in' }).click();
    expect(await actions()).toBe(3);
    await expect.poll(() => page.getByRole('list', { name: 'Conditions' }).textContent()).toContain(named[0]?.trim());
    // One question for each view: the first one, the comparison, the network.
    await expect.poll(() => questions().length).toBe(3);
  },
);
