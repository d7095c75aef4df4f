import { ENGINE_LABELS, enginesOf } from '../engine-label.ts';
import type { RaceResult } from '../race-result.ts';
import { html } from './html-markup.ts';
import { againSection, circumstancesSection } from './page-circumstances.ts';
import { concurrencySection } from './page-concurrency.ts';
import { growthSection } from './page-growth.ts';
import { intakeSection } from './page-intake.ts';
import { methodSection } from './page-method.ts';
import { mixedSection } from './page-mixed.ts';
import { searchesSection } from './page-searches.ts';
import { PAGE_STYLE } from './page-style.ts';
import { differencesAlert, verdictSection } from './page-verdict.ts';

/**
 * The result as one page of HTML that needs nothing beside it: no network, no scripts, no fonts. What was not measured has no section.
 * All texts of the result are escaped, and a policy in the page forbids it to load or run anything.
 */
export function raceHtml(result: RaceResult): string {
  const { circumstances, sizes, differences } = result;
  const title = `Event-log search: ${enginesOf(result)
    .map((engine) => ENGINE_LABELS[engine])
    .join(' and ')}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${{ kind: 'markup', text: PAGE_STYLE }}</style>
</head>
<body><main>
<header><h1>${title}</h1>
<p class="lead">The same events, the same searches, the same machine; every figure with what it takes to measure it again.</p></header>
${differencesAlert(differences)}
${circumstancesSection(circumstances)}
${verdictSection(result)}
${searchesSection(sizes)}
${intakeSection(sizes)}
${growthSection(sizes)}
${mixedSection(result)}
${concurrencySection(result)}
${methodSection(result)}
${againSection(circumstances)}
</main></body>
</html>
`.text;
}
