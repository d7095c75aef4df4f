import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules of axe that look at colours. All others see the same in light and in dark. */
export const COLOUR_RULES: readonly string[] = ['color-contrast', 'link-in-text-block'];

/**
 * What axe finds wrong with the page as it is shown now, a line for each kind of violation with its first elements. With `rules`, by these
 * alone.
 */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(`${axe.source}; undefined`);
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } }) };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults;
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${html.slice(0, 120)} (${failureSummary?.replaceAll(/\s+/g, ' ')})`)
        .join(' | ')}`,
  );
}
