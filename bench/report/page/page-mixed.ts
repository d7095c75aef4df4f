import type { EngineName } from '../../engines/engine.ts';
import { inOrder } from '../engine-label.ts';
import { percentile } from '../percentile.ts';
import type { MixedFigures, RaceResult } from '../race-result.ts';
import { eventsPerSecond, slowdownText } from '../race-summary.ts';
import { html, type Markup, NOTHING } from './html-markup.ts';
import { aligned, factor, mebibytes, power, short, whole } from './html-number.ts';
import { htmlTable } from './html-table.ts';
import { figure } from './plot-figure.ts';
import { plotLatencies } from './plot-latencies.ts';

interface Condition {
  readonly label: string;
  readonly rows: readonly {
    readonly engine: EngineName;
    readonly name: string;
    readonly times: readonly number[];
    readonly figures: MixedFigures | null;
  }[];
}

/** How long a dashboard's searches take with nothing else going on, and while events come in. */
export function mixedSection({ mixed }: RaceResult): Markup {
  const conditions = conditionsOf(mixed);
  if (conditions.length === 0) {
    return NOTHING;
  }
  const plot = plotLatencies({
    id: 'latencies',
    title: "Times of a dashboard's searches, alone and while events come in",
    description: 'Strokes and marks on a logarithmic scale of milliseconds; the percentiles are in the table below.',
    groups: conditions,
  });
  const rows = conditions.flatMap(({ label, rows: engines }) =>
    engines.map(({ name, times, figures }) => [
      `${name}: ${label}`,
      ...(figures === null ? ['', ''] : [whole(eventsPerSecond(figures)), mebibytes(figures.peakMemoryBytes)]),
      whole(times.length),
      ...[0.5, 0.95, 0.99].map((share) => aligned(percentile(times, share))),
      figures === null ? '' : slowdownText(figures, factor, power),
    ]),
  );
  const table = htmlTable({
    id: 'latencies-table',
    caption: "A dashboard's searches: percentiles of their times in milliseconds",
    head: 'Engine and intake',
    groups: [
      { name: 'Intake', columns: ['events/s', 'peak memory, MiB'] },
      { name: 'Searches', columns: ['number', 'p50', 'p95', 'p99', 'p95 of p95 alone'] },
    ],
    rows,
  });
  return html`<section id="mixed"><h2>Searching while events come in</h2>
${figure(html`The time of each search in milliseconds on a <strong>logarithmic scale</strong>: a stroke for each, marks at p50, p95 and p99, the higher the smaller.`, plot)}
${table}
</section>`;
}

/** The engines' runs are put beside one another where they were made in the same circumstances. */
function conditionsOf(mixed: RaceResult['mixed']): Condition[] {
  const runs = inOrder(mixed).flatMap(({ engine, label, figures }) =>
    figures.flatMap((run) => {
      const timesOf = (of: 'aloneMs' | 'besideMs') => run.turns.flatMap((turn) => turn[of]);
      const before = `${run.storedEvents === 0 ? 'none' : short(run.storedEvents)} stored before`;
      const pace = run.wantedEventsPerSecond === null ? 'intake at full speed' : `${short(run.wantedEventsPerSecond)} events/s offered`;
      return [
        {
          engine,
          name: label,
          times: timesOf('aloneMs'),
          figures: null,
          condition: `searches only, ${short(run.storedEvents)} events stored`,
        },
        { engine, name: label, times: timesOf('besideMs'), figures: run, condition: `${pace}, ${before}` },
      ].filter(({ times }) => times.length > 0);
    }),
  );
  return [...new Set(runs.map(({ condition }) => condition))].map((label) => ({
    label,
    rows: runs.filter(({ condition }) => condition === label),
  }));
}
