import { ENGINE_LABELS, inOrder, OURS, RIVAL, type SizeFigures, type WorkloadFigures } from '../race-result.ts';
import { growthExponent, medianMs } from '../race-summary.ts';
import { html, htmlTable, type Markup, NOTHING, power, short, tickNumber, twoDigits, whole } from './html.ts';
import { figure, fittedLogScale, logScale, plotLines } from './plots.ts';

/** The growth of the time of each search with the number of events: a small plot for each, all on the same scales. */
export function growthSection(sizes: readonly SizeFigures[]): Markup {
  const last = sizes.at(-1);
  const workloads = (last?.workloads ?? []).filter((workload) => linesOf(sizes, workload).length > 0);
  const [first] = sizes;
  if (first === undefined || last === undefined || workloads.length === 0) {
    return NOTHING;
  }
  const x = { scale: fittedLogScale(sizes.map(({ events }) => events)), shown: short, tick: short };
  const all = workloads.flatMap((workload) => linesOf(sizes, workload).flatMap(({ points }) => points.map((point) => point.y)));
  const y = { scale: logScale(all), shown: twoDigits, tick: tickNumber };
  const plots = workloads.map((workload, index) => {
    const lines = linesOf(sizes, workload);
    const said = lines.map(({ engine, label }) => `${ENGINE_LABELS[engine]} ${label}`).join(', ');
    const scales = 'Milliseconds over the number of events, both logarithmic';
    const description = `${scales}. The time grows by this power of the number of events: ${said}.`;
    return figure(
      workload.title,
      plotLines({
        id: `growth-${index + 1}`,
        title: `Growth: ${workload.title}`,
        description,
        width: 165,
        height: 118,
        right: 36,
        x,
        y,
        lines,
      }),
    );
  });
  return html`<section id="growth"><h2>Growth</h2>
<p>Hot median milliseconds from ${whole(first.events)} to ${whole(last.events)} events, both scales logarithmic and the same in every plot.
At the end of each line is the power of the number of events that the time grows by: 1 is in proportion, 0 not at all.
<span class="key line-key shieldlog">${ENGINE_LABELS[OURS]}</span> <span class="key line-key clickhouse">${ENGINE_LABELS[RIVAL]}</span></p>
<div class="multiples">${plots}</div>
${growthTable(sizes, workloads)}
</section>`;
}

function linesOf(sizes: readonly SizeFigures[], { name, engines }: WorkloadFigures) {
  const points = ({ events, workloads }: SizeFigures, engine: typeof OURS) => {
    const workload = workloads.find((candidate) => candidate.name === name);
    const time = workload === undefined ? Number.NaN : medianMs(workload, engine, 'hotMs');
    return Number.isNaN(time) ? [] : [{ x: events, y: time }];
  };
  return inOrder(engines)
    .map(({ engine }) => ({
      engine,
      points: sizes.flatMap((size) => points(size, engine)),
      label: power(growthExponent(sizes, name, engine)),
    }))
    .filter((line) => line.points.length > 1);
}

function growthTable(sizes: readonly SizeFigures[], workloads: readonly WorkloadFigures[]): Markup {
  const engines = inOrder(workloads[0]?.engines ?? {});
  return htmlTable({
    id: 'growth-table',
    caption: `The time grows by this power of the number of events; median milliseconds, hot`,
    head: 'Search',
    groups: engines.map(({ label }) => ({ name: label, columns: [...sizes.map(({ events }) => short(events)), 'power'] })),
    rows: workloads.map(({ name, title }) => [
      title,
      ...engines.flatMap(({ engine }) => [
        ...sizes.map((size) => timeOf(size, name, engine)),
        html`<strong>${power(growthExponent(sizes, name, engine))}</strong>`,
      ]),
    ]),
  });
}

function timeOf({ workloads }: SizeFigures, name: string, engine: typeof OURS): string {
  const workload = workloads.find((candidate) => candidate.name === name);
  return twoDigits(workload === undefined ? Number.NaN : medianMs(workload, engine, 'hotMs'));
}
