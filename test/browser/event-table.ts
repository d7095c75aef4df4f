import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The lines of the table that are drawn, by their number from 0, with the texts of their cells. A line that is not there yet has `…`. */
export async function drawnLines(page: Page): Promise<ReadonlyMap<number, readonly string[]>> {
  const lines = await page.evaluate(`[...document.querySelectorAll('[role=grid] [role=rowgroup] [role=row]')].map((row) =>
    [Number(row.getAttribute('aria-rowindex')) - 2, [...row.children].map((cell) => cell.textContent.trim())])`);
  return new Map(lines as (readonly [number, readonly string[]])[]);
}

/** The lines that are drawn, when all of them are loaded and the line `number` is among them. */
export async function linesAround(page: Page, number: number): Promise<ReadonlyMap<number, readonly string[]>> {
  let lines: ReadonlyMap<number, readonly string[]> = new Map();
  await expect
    .poll(
      async () => {
        lines = await drawnLines(page);
        return lines.has(number) && [...lines.values()].every(([first]) => first !== '…');
      },
      { interval: 5 },
    )
    .toBe(true);
  return lines;
}

/** Scrolls the table so far that the line of this number is in view, as the wheel does. */
export async function scrollToLine(page: Page, number: number): Promise<ReadonlyMap<number, readonly string[]>> {
  await page.evaluate(`(() => {
    const grid = document.querySelector('[role=grid]');
    const line = grid.querySelector('[role=rowgroup] [role=row]');
    grid.scrollTop = ${number} * line.offsetHeight;
  })()`);
  return linesAround(page, number);
}
