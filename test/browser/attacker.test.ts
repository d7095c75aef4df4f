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

test.each(DEMO_ATTACKS)(
  'from opening the page it takes three clicks to the networks of the attack "%s", and to its events',
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
    expect(await actions()).toBe(1);
    await networks.getByRole('button').first().click();
    await page.getByRole('menuitem', { name: 'Filter in' }).click();
    expect(await actions()).toBe(3);
    await expect.poll(() => page.getByRole('list', { name: 'Conditions' }).textContent()).toContain(named[0]?.trim());
    // One question for each view: the first one, the comparison, the network.
    await expect.poll(() => questions().length).toBe(3);
  },
);
