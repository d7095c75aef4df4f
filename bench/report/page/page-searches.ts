import { ENGINE_LABELS, inOrder, OURS, RIVAL, type SizeFigures, type WorkloadFigures } from '../race-result.ts';
import { geometricMean, medianMs, type Temperature, timesAsFast } from '../race-summary.ts';
import { aligned, factor, html, htmlTable, type Markup, mebibytes, NOTHING, tickNumber, twoDigits, whole } from './html.ts';
import { type Bar, figure, logScale, plotBars } from './plots.ts';

const TEMPERATURES = [
  { temperature: 'hotMs', name: 'Hot' },
  { temperature: 'coldMs', name: 'Cold' },
  { temperature: 'rememberedMs', name: 'Remembered' },
] as const;

/** The times of the searches: of the largest size as bars and as a table, of the smaller ones as tables. */
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

/** Bars for each temperature. On a narrow page they are below one another. */
function searchBars(size: SizeFigures): Markup {
  const timed = timedAt(size);
  const compared = size.workloads.some(({ engines }) => inOrder(engines).length > 1);
  const barsAt = (temperature: Temperature) => size.workloads.flatMap((workload) => barsOf(workload, temperature));
  const scale = logScale(timed.flatMap(({ temperature }) => barsAt(temperature).flatMap(({ spread }) => spread)));
  const rowOf = (workload: WorkloadFigures, temperature: Temperature) => {
    const times = timesAsFast(workload, OURS, RIVAL, temperature);
    return {
      label: workload.title,
      bars: barsOf(workload, temperature),
      note: Number.isNaN(times) ? '' : factor(times),
      isLoss: times < 1,
    };
  };
  const plots = timed.map(({ temperature, name }) => {
    const plot = plotBars({
      id: `bars-${name.toLowerCase()}`,
      title: `${name}: median time of every search of ${whole(size.events)} events`,
      description: 'Horizontal bars on a logarithmic scale of milliseconds; all their figures are in the table below.',
      scale,
      shown: twoDigits,
      tick: tickNumber,
      noteHeading: compared ? 'as fast' : '',
      rows: size.workloads.map((workload) => rowOf(workload, temperature)),
    });
    return figure(html`<strong>${name}</strong>, ms`, plot);
  });
  const note = compared ? `On the right, how many times as fast ${ENGINE_LABELS[OURS]} is; bold where it is slower.` : '';
  const keys = inOrder(size.workloads[0]?.engines ?? {}).map(({ engine, label }) => html`<span class="key ${engine}">${label}</span> `);
  return html`<p class="legend">Median times in milliseconds on a <strong>logarithmic scale</strong>, shorter is better: ${keys}
The thin line reaches from the fastest run to the slowest. ${note}</p>
<div class="multiples wide">${plots}</div>`;
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
    id: `searches-of-${events}`,
    caption: `Searches of ${whole(events)} events: median times in milliseconds`,
    head: 'Search',
    groups: [{ name: '', columns: ['events found'] }, ...timed.map(({ name }) => ({ name: `${name}, ms`, columns }))],
    rows: workloads.map((workload) => [workload.title, whole(workload.total), ...cells(workload)]),
    ...(compared ? { summary: ['Geometric mean', '', ...means] } : {}),
  });
}
