import { ENGINE_LABELS, OURS, RIVAL } from '../engine-label.ts';
import type { RaceResult, SizeFigures, WorkloadFigures } from '../race-result.ts';
import { geometricMean, type Temperature, timesAsFast } from '../race-summary.ts';
import { html, type Markup, NOTHING } from './html-markup.ts';
import { whole } from './html-number.ts';

interface Standing {
  readonly temperature: 'hot' | 'cold';
  readonly mean: number;
  /** Where we are slowest beside the rival. */
  readonly worst: { readonly title: string; readonly factor: number };
}

/** What the figures come to, in two sentences. */
export function verdictSection(result: RaceResult): Markup {
  const size = result.sizes.at(-1);
  const standings = size === undefined ? [] : [standing(size, 'hotMs'), standing(size, 'coldMs')].filter((one) => one !== null);
  const [first] = standings;
  if (size === undefined || first === undefined) {
    return html`<section id="verdict"><h2>Verdict</h2><p class="verdict">No searches of two engines were timed against each other.</p></section>`;
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

/** Shouts where the engines did not answer the same. */
export function differencesAlert(differences: readonly string[]): Markup {
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
  const places = standings.map(({ worst, temperature }) => `“${worst.title}” ${temperature} (${worst.factor.toFixed(2)} times as fast)`);
  return `Beside ${ENGINE_LABELS[RIVAL]} it does worst at ${places.join(' and ')}; ${verdictOfAnswers}.`;
}

function stat(value: number, name: string): Markup {
  return html`<div${value < 1 ? html` class="loss"` : NOTHING}><dt>${name}</dt><dd>${value.toFixed(2)}<span>times</span></dd></div>\n`;
}
