import { ENGINE_LABELS, enginesOf, OURS, type RaceResult, RIVAL, type SizeFigures, type WorkloadFigures } from '../race-result.ts';
import { geometricMean, type Temperature, timesAsFast } from '../race-summary.ts';
import { html, type Markup, NOTHING, whole } from './html.ts';
import { concurrencySection } from './page-concurrency.ts';
import { exploreSection } from './page-explore.ts';
import { growthSection } from './page-growth.ts';
import { intakeSection } from './page-intake.ts';
import { againSection, circumstancesSection, methodSection } from './page-method.ts';
import { mixedSection } from './page-mixed.ts';
import { searchesSection } from './page-searches.ts';
import { PAGE_STYLE } from './page-style.ts';

/**
 * The result as one page of HTML without scripts, fonts or anything else to load. What was not measured has no section. All texts of the
 * result are escaped, and a policy in the page forbids it to load or run anything.
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
${exploreSection(result)}
${mixedSection(result)}
${concurrencySection(result)}
${methodSection(result)}
${againSection(circumstances)}
</main></body>
</html>
`.text;
}

interface Standing {
  readonly temperature: 'hot' | 'cold';
  readonly mean: number;
  /** The search in which our engine is slowest beside the rival. */
  readonly worst: { readonly title: string; readonly factor: number };
}

/** The figures in two sentences. */
function verdictSection(result: RaceResult): Markup {
  const size = result.sizes.at(-1);
  const standings = size === undefined ? [] : [standing(size, 'hotMs'), standing(size, 'coldMs')].filter((one) => one !== null);
  const [first] = standings;
  if (size === undefined || first === undefined) {
    return html`<section id="verdict"><h2>Verdict</h2>
<p class="verdict">No searches of two engines were timed against each other.</p></section>`;
  }
  const means = standings.map(({ mean, temperature }) =>
    stat(mean, `as fast as ${ENGINE_LABELS[RIVAL]}, ${temperature}: geometric mean of ${size.workloads.length} searches`),
  );
  const worst = `as fast in its slowest search beside ${ENGINE_LABELS[RIVAL]}, ${first.temperature}: ${first.worst.title}`;
  const answers =
    result.differences.length === 0
      ? 'both gave equal answers to every search'
      : 'but they gave different answers, so that none of these figures counts';
  return html`<section id="verdict"><h2>Verdict</h2>
<dl class="headline">
${means}${stat(first.worst.factor, worst)}</dl>
<p class="verdict">${speedSentence(size, standings)} ${worstSentence(standings, answers)}</p>
</section>`;
}

/** A warning if the engines gave different answers. */
function differencesAlert(differences: readonly string[]): Markup {
  return differences.length === 0
    ? NOTHING
    : html`<section id="differences" class="alert"><h2>The engines gave different answers</h2>
<p><strong>Nothing on this page means anything until they are equal.</strong></p>
<ul>${differences.map((difference) => html`<li><code>${difference}</code></li>`)}</ul></section>`;
}

function standing({ workloads }: SizeFigures, temperature: Temperature): Standing | null {
  const factors = workloads.map((workload: WorkloadFigures) => ({
    title: workload.title,
    factor: timesAsFast(workload, OURS, RIVAL, temperature),
  }));
  const [worst] = factors.filter(({ factor }) => !Number.isNaN(factor)).toSorted((a, b) => a.factor - b.factor);
  const mean = geometricMean(factors.map(({ factor }) => factor));
  return worst === undefined ? null : { temperature: temperature === 'hotMs' ? 'hot' : 'cold', mean, worst };
}

function speedSentence({ events, workloads }: SizeFigures, standings: readonly Standing[]): string {
  const [first, ...others] = standings.map(({ mean, temperature }) => ({ times: `${mean.toFixed(2)} times as fast`, temperature }));
  const means = [
    `${first?.times} as ${ENGINE_LABELS[RIVAL]} ${first?.temperature}`,
    ...others.map(({ times, temperature }) => `${times} ${temperature}`),
  ];
  const searches = workloads.length === 1 ? 'one search' : `geometric mean of ${workloads.length} searches`;
  return `On ${whole(events)} events, ${ENGINE_LABELS[OURS]} is ${means.join(' and ')} (${searches}).`;
}

function worstSentence(standings: readonly Standing[], verdictOfAnswers: string): string {
  const searches = standings.map(({ worst, temperature }) => `“${worst.title}” ${temperature} (${worst.factor.toFixed(2)} times as fast)`);
  return `Beside ${ENGINE_LABELS[RIVAL]} it does worst at ${searches.join(' and ')}; ${verdictOfAnswers}.`;
}

function stat(value: number, name: string): Markup {
  return html`<div${value < 1 ? html` class="loss"` : NOTHING}><dt>${name}</dt><dd>${value.toFixed(2)}<span>times</span></dd></div>\n`;
}
