import { ENGINE_LABELS, inOrder, OURS, RIVAL } from './engine-label.ts';
import { html, type Markup, NOTHING } from './html-markup.ts';
import { aligned, factor, mebibytes, short, twoDigits, whole } from './html-number.ts';
import { htmlTable } from './html-table.ts';
import { type Bar, plotBars } from './plot-bars.ts';
import { figure } from './plot-figure.ts';
import { logScale } from './plot-scale.ts';
import type { SizeFigures, WorkloadFigures } from './race-result.ts';
import { geometricMean, medianMs, type Temperature, timesAsFast } from './race-summary.ts';

const TEMPERATURES = [
  { temperature: 'hotMs', name: 'Hot' },
  { temperature: 'coldMs', name: 'Cold' },
] as const;

/** How long every search took: the last size as bars and as a table, the smaller ones as tables. */
export function searchesSection(sizes: readonly SizeFigures[]): Markup {
  const [largest, ...smaller] = sizes.filter(isTimed).toReversed();
  if (largest === undefined) {
    return NOTHING;
  }
  const peaks = inOrder(largest.searchPeakMemoryBytes).map(({ label, figures }) => `${label} ${mebibytes(figures)} MiB`);
  const folded = smaller.map(
    (size) => html`<details><summary>The same on ${whole(size.events)} events</summary>${searchTable(size)}</details>\n`,
  );
  return html`<section id="searches"><h2>Searches of ${whole(largest.events)} events</h2>
${searchBars(largest)}
${searchTable(largest)}
${peaks.length === 0 ? NOTHING : html`<p>At most in memory, of a process that only searched: ${peaks.join(', ')}.</p>`}
${folded}</section>`;
}

function isTimed({ workloads }: SizeFigures): boolean {
  return workloads.some((workload) => TEMPERATURES.some(({ temperature }) => barsOf(workload, temperature).length > 0));
}

function timedAt({ workloads }: SizeFigures) {
  return TEMPERATURES.filter(({ temperature }) => workloads.some((workload) => barsOf(workload, temperature).length > 0));
}

function barsOf(workload: WorkloadFigures, temperature: Temperature): Bar[] {
  return inOrder(workload.engines)
    .filter(({ figures }) => figures[temperature].length > 0)
    .map(({ engine, figures }) => {
      const times = figures[temperature];
      return { engine, value: medianMs(workload, engine, temperature), spread: [Math.min(...times), Math.max(...times)] };
    });
}

function searchBars(size: SizeFigures): Markup {
  const timed = timedAt(size);
  const scale = logScale(
    size.workloads.flatMap((workload) => timed.flatMap(({ temperature }) => barsOf(workload, temperature).flatMap(({ spread }) => spread))),
  );
  const cell = (workload: WorkloadFigures) => (temperature: Temperature) => {
    const times = timesAsFast(workload, OURS, RIVAL, temperature);
    return { bars: barsOf(workload, temperature), note: Number.isNaN(times) ? '' : factor(times), isLoss: times < 1 };
  };
  const plot = plotBars({
    id: 'bars',
    title: `Median time of every search of ${whole(size.events)} events`,
    description: `Horizontal bars on a logarithmic scale of milliseconds, ${timed.map(({ name }) => name.toLowerCase()).join(' and ')}; all their figures are in the table below.`,
    panels: timed.map(({ name }) => ({ heading: `${name}, ms`, scale, shown: twoDigits, tick: short })),
    rows: size.workloads.map((workload) => ({ label: workload.title, cells: timed.map(({ temperature }) => cell(workload)(temperature)) })),
  });
  const legend = html`Median time in milliseconds on a <strong>logarithmic scale</strong>, shorter is better:
${inOrder(size.workloads[0]?.engines ?? {}).map(({ engine, label }) => html`<span class="key ${engine}">${label}</span> `)}
The thin line reaches from the fastest run to the slowest. On the right, how many times as fast ${ENGINE_LABELS[OURS]} is; bold where it is slower.`;
  return figure(legend, plot);
}

function searchTable(size: SizeFigures): Markup {
  const { events, workloads } = size;
  const timed = timedAt(size);
  const engines = [OURS, RIVAL].filter((engine) => workloads.some((workload) => workload.engines[engine] !== undefined));
  const compared = engines.length > 1;
  const times = (value: number) => (value < 1 ? html`<strong class="loss">${factor(value)}</strong>` : html`${factor(value)}`);
  const cells = (workload: WorkloadFigures) =>
    timed.flatMap(({ temperature }) => [
      ...engines.map((engine) => aligned(medianMs(workload, engine, temperature))),
      ...(compared ? [times(timesAsFast(workload, OURS, RIVAL, temperature))] : []),
    ]);
  const means = timed.flatMap(({ temperature }) => [
    ...engines.map(() => ''),
    times(geometricMean(workloads.map((workload) => timesAsFast(workload, OURS, RIVAL, temperature)))),
  ]);
  const columns = [...engines.map((engine) => ENGINE_LABELS[engine]), ...(compared ? ['times as fast'] : [])];
  return htmlTable({
    caption: `Searches of ${whole(events)} events: median times in milliseconds`,
    head: 'Search',
    groups: [{ name: '', columns: ['events found'] }, ...timed.map(({ name }) => ({ name: `${name}, ms`, columns }))],
    rows: workloads.map((workload) => [workload.title, whole(workload.total), ...cells(workload)]),
    ...(compared ? { summary: ['Geometric mean', '', ...means] } : {}),
  });
}
