import { ENGINE_LABELS, inOrder, OURS, RIVAL } from '../engine-label.ts';
import type { SizeFigures, WorkloadFigures } from '../race-result.ts';
import { growthExponent, medianMs } from '../race-summary.ts';
import { html, type Markup, NOTHING } from './html-markup.ts';
import { power, short, tickNumber, twoDigits, whole } from './html-number.ts';
import { htmlTable } from './html-table.ts';
import { figure } from './plot-figure.ts';
import { plotLines } from './plot-lines.ts';
import { fittedLogScale, logScale } from './plot-scale.ts';

/** How the time of each search grows with the number of events: one small plot each, all on the same scales. */
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
  const plots = workloads.map((workload, place) => {
    const lines = linesOf(sizes, workload);
    const said = lines.map(({ engine, label }) => `${ENGINE_LABELS[engine]} ${label}`).join(', ');
    const description = `Milliseconds over the number of events, both logarithmic. The time grows by this power of the number of events: ${said}.`;
    return figure(
      workload.title,
      plotLines({
        id: `growth-${place + 1}`,
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
<p>Hot median milliseconds from ${whole(first.events)} to ${whole(last.events)} events, both scales logarithmic and the same in every plot. At the end of each
line is the power of the number of events that the time grows by: 1 is in proportion, 0 not at all.
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
