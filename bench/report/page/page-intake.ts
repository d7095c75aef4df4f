import { percentile } from '../figures.ts';
import { type IntakeFigures, inOrder, type SizeFigures } from '../race-result.ts';
import { coresBusy } from '../race-summary.ts';
import { html, htmlTable, type Markup, NOTHING, short, whole } from './html.ts';
import { figure, linearScale, plotBars } from './plots.ts';

interface IntakeMeasure {
  readonly id: string;
  readonly title: string;
  /** The values of the runs. */
  readonly valuesOf: (intake: IntakeFigures, events: number) => readonly number[];
  /** The one value that stands for those of the runs. */
  readonly of: (values: readonly number[]) => number;
  readonly shown: (value: number) => string;
  readonly tick: (value: number) => string;
}

const MIB = 1024 ** 2;

const median = (values: readonly number[]) => percentile(values, 0.5);
const twoDecimals = (value: number) => value.toFixed(2);
const highest = (values: readonly number[]) => Math.max(...values);
const perSecond = (events: number, ms: number) => events / (ms / 1000);

const MEASURES: readonly IntakeMeasure[] = [
  {
    id: 'searchable',
    title: 'Events a second until all are searchable',
    valuesOf: ({ runs }, events) => runs.map(({ elapsedMs }) => perSecond(events, elapsedMs)),
    of: median,
    shown: whole,
    tick: short,
  },
  {
    id: 'merged',
    title: 'Events a second until all are merged',
    valuesOf: ({ runs }, events) => runs.map(({ elapsedMs, settleMs }) => perSecond(events, elapsedMs + settleMs)),
    of: median,
    shown: whole,
    tick: short,
  },
  {
    id: 'cores',
    title: 'Cores busy until all are searchable',
    valuesOf: ({ runs }) => runs.map(coresBusy),
    of: median,
    shown: twoDecimals,
    tick: twoDecimals,
  },
  {
    id: 'memory',
    title: 'Peak memory, MiB',
    valuesOf: ({ runs }) => runs.map(({ peakMemoryBytes }) => peakMemoryBytes / MIB),
    of: highest,
    shown: whole,
    tick: whole,
  },
  {
    id: 'disk',
    title: 'Bytes an event on disk',
    valuesOf: ({ diskBytes }, events) => [diskBytes / events],
    of: median,
    shown: whole,
    tick: whole,
  },
];

/** The speed of the intake of files, and its cores, memory and disk. */
export function intakeSection(sizes: readonly SizeFigures[]): Markup {
  const withIntake = sizes.filter(({ intake }) => inOrder(intake).some(({ figures }) => figures.runs.length > 0));
  const last = withIntake.at(-1);
  if (last === undefined) {
    return NOTHING;
  }
  return html`<section id="intake"><h2>Intake</h2>
<p>${takenIn(last)} into an empty engine. For the first two more is better, for memory and disk less;
cores that are not busy wait for the disk.
${inOrder(last.intake).map(({ engine, label }) => html`<span class="key ${engine}">${label}</span> `)}</p>
<div class="multiples wide">${MEASURES.map((measure) => measureFigure(measure, last))}</div>
${intakeTable(withIntake)}
</section>`;
}

function takenIn({ events, files }: SizeFigures): string {
  const size = `${whole(events)} events of ${whole(files.bytes / events)} bytes each on average,`;
  return files.count === 1
    ? `A file of ${size}`
    : `${size} in ${whole(files.count)} files one after the other, without the time between them,`;
}

function measureFigure({ id, title, valuesOf, of, shown, tick }: IntakeMeasure, { events, intake }: SizeFigures): Markup {
  const bars = inOrder(intake).map(({ engine, label, figures }) => {
    const values = valuesOf(figures, events);
    return { engine, label, value: of(values), spread: [Math.min(...values), Math.max(...values)] as const };
  });
  const scale = linearScale(bars.flatMap(({ spread }) => spread));
  const description = `Bars on a linear scale from zero: ${bars.map(({ label, value }) => `${label} ${shown(value)}`).join(', ')}.`;
  const rows = [{ label: '', bars, note: '', isLoss: false }];
  return figure(
    title,
    plotBars({ id: `intake-${id}`, title, description, scale: { ...scale, ticks: [0, scale.high] }, shown, tick, noteHeading: '', rows }),
  );
}

function intakeTable(sizes: readonly SizeFigures[]): Markup {
  const rows = sizes.flatMap(({ events, intake }) =>
    inOrder(intake).map(({ label, figures }) => [
      `${label}, ${whole(events)} events`,
      whole(figures.runs.length),
      ...MEASURES.map(({ valuesOf, of, shown }) => shown(of(valuesOf(figures, events)))),
    ]),
  );
  return htmlTable({
    id: 'intake-table',
    caption: 'Intake: medians of the runs; of memory the highest',
    head: 'Engine and events',
    groups: [
      {
        name: '',
        columns: ['runs', 'events/s until searchable', 'events/s until merged', 'cores busy', 'peak memory, MiB', 'bytes an event on disk'],
      },
    ],
    rows,
  });
}
