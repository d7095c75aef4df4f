import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { type PageOptions, pagesOf } from './watched-page.ts';

const openPage = pagesOf(() => inject('demoUrl'));

const TELEPHONE: PageOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

interface Place {
  readonly x: number;
  readonly y: number;
}

/**
 * Puts a finger on the screen, moves it in steps of a tenth of a second, lets it rest, and takes it off. A finger that leaves in motion
 * throws the page, and browsers take the next tap for the end of that.
 */
async function drag(page: Page, from: Place, to: Place): Promise<void> {
  const session = await page.context().newCDPSession(page);
  let timestamp = Date.now() / 1000 - 3;
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: readonly Place[]) => {
    timestamp += type === 'touchEnd' ? 1 : 0.1;
    return session.send('Input.dispatchTouchEvent', { type, touchPoints: [...touchPoints], timestamp });
  };
  await touch('touchStart', [from]);
  for (let step = 1; step <= 10; step += 1) {
    const at = (end: 'x' | 'y'): number => from[end] + ((to[end] - from[end]) * step) / 10;
    await touch('touchMove', [{ x: at('x'), y: at('y') }]);
  }
  await touch('touchEnd', []);
}

async function openPlot(query: string) {
  const watched = await openPage(query, TELEPHONE);
  const { page } = watched;
  await page.getByRole('region', { name: 'Fields' }).waitFor();
  const plot = await page.locator('.u-over').boundingBox();
  if (plot === null) throw new Error('there is no histogram');
  const at = (share: number): Place => ({ x: plot.x + share * plot.width, y: plot.y + plot.height / 2 });
  return { ...watched, at, plot };
}

test('a finger that moves to the side over the histogram draws a stretch, in both directions', async () => {
  const { page, at, lastQuestion } = await openPlot('zone=1');
  const whole = lastQuestion();
  const stretch = (): readonly number[] => {
    const { from, to } = lastQuestion().selection ?? { from: 0, to: 0 };
    return [from, to].map((time) => (time - whole.from) / (whole.to - whole.from));
  };
  await drag(page, at(0.25), at(0.5));
  await page.getByRole('menuitem', { name: 'What is different here?' }).tap();
  await expect.poll(() => stretch().map((share) => Math.round(share * 20) / 20)).toEqual([0.25, 0.5]);
  await page.getByRole('region', { name: 'What is different' }).waitFor();
  await drag(page, at(0.9), at(0.6));
  await page.getByRole('menuitem', { name: 'What is different here?' }).tap();
  await expect.poll(() => stretch().map((share) => Math.round(share * 20) / 20)).toEqual([0.6, 0.9]);
});

test('a finger that moves up over the histogram scrolls the page and draws nothing', async () => {
  const { page, at } = await openPlot('zone=1');
  await drag(page, at(0.5), { x: at(0.5).x, y: at(0.5).y - 150 });
  await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(50);
  expect(await page.getByRole('menu').count()).toBe(0);
  expect(await page.locator('.u-select').evaluate((element) => element.clientWidth)).toBe(0);
});

test('a tap on the histogram takes one bar', async () => {
  const { page, at } = await openPlot('zone=1');
  await page.touchscreen.tap(at(0.5).x, at(0.5).y);
  await page.getByRole('menuitem', { name: 'Zoom in' }).tap();
  await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(true);
});

test('a peak is compared by a tap on its button, however narrow it is', async () => {
  const { page, lastQuestion } = await openPlot('zone=1');
  const whole = lastQuestion();
  await page.getByRole('list', { name: 'Peaks' }).getByRole('button').first().tap();
  await page.getByRole('region', { name: 'What is different' }).getByRole('row').nth(1).waitFor();
  const { from, to } = lastQuestion().selection ?? whole;
  expect(to - from).toBeLessThan((whole.to - whole.from) / 5);
});
