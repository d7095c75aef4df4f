import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with the page as it is shown now, a line for each kind of violation with its first elements. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${axe.source}; undefined`);
  const { violations } = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResults;
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${html.slice(0, 120)} (${failureSummary?.replaceAll(/\s+/g, ' ')})`)
        .join(' | ')}`,
  );
}
