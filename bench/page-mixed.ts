import { inOrder } from './engine-label.ts';
import type { EngineName } from './engines/engine.ts';
import { html, type Markup, NOTHING } from './html-markup.ts';
import { aligned, mebibytes, short, whole } from './html-number.ts';
import { htmlTable } from './html-table.ts';
import { percentile } from './percentile.ts';
import { figure } from './plot-figure.ts';
import { plotLatencies } from './plot-latencies.ts';
import type { MixedFigures, RaceResult } from './race-result.ts';

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
export function mixedSection({ idle, mixed, sizes }: RaceResult): Markup {
  const conditions = [idleCondition(idle, sizes.at(-1)?.events ?? 0), ...mixedConditions(mixed)].filter(({ rows }) => rows.length > 0);
  if (conditions.length === 0) {
    return NOTHING;
  }
  const plot = plotLatencies({
    id: 'latencies',
    title: "Times of a dashboard's searches, idle and while events come in",
    description: 'Strokes and marks on a logarithmic scale of milliseconds; the percentiles are in the table below.',
    groups: conditions,
  });
  const rows = conditions.flatMap(({ label, rows: engines }) =>
    engines.map(({ name, times, figures }) => [
      `${name}: ${label}`,
      ...(figures === null ? ['', ''] : [whole(figures.eventsPerSecond), mebibytes(figures.peakMemoryBytes)]),
      whole(times.length),
      ...[0.5, 0.95, 0.99].map((share) => aligned(percentile(times, share))),
    ]),
  );
  const table = htmlTable({
    id: 'latencies-table',
    caption: "A dashboard's searches: percentiles of their times in milliseconds",
    head: 'Engine and intake',
    groups: [
      { name: 'Intake', columns: ['events/s', 'peak memory, MiB'] },
      { name: 'Searches', columns: ['number', 'p50', 'p95', 'p99'] },
    ],
    rows,
  });
  return html`<section id="mixed"><h2>Searching while events come in</h2>
${figure(html`The time of each search in milliseconds on a <strong>logarithmic scale</strong>: a stroke for each, marks at p50, p95 and p99, the higher the smaller.`, plot)}
${table}
</section>`;
}

function idleCondition(idle: RaceResult['idle'], events: number): Condition {
  const rows = inOrder(idle)
    .filter(({ figures }) => figures.length > 0)
    .map(({ engine, label, figures }) => ({ engine, name: label, times: figures, figures: null }));
  return { label: `searches only, ${short(events)} events stored`, rows };
}

/** The engines' runs are put beside one another where they were made in the same circumstances. */
function mixedConditions(mixed: RaceResult['mixed']): Condition[] {
  const runs = inOrder(mixed).flatMap(({ engine, label, figures }) =>
    figures.map((run) => ({ engine, name: label, times: run.searchMs, figures: run, condition: conditionOf(run) })),
  );
  return [...new Set(runs.map(({ condition }) => condition))].map((label) => ({
    label,
    rows: runs.filter(({ condition }) => condition === label),
  }));
}

function conditionOf({ storedEvents, wantedEventsPerSecond }: MixedFigures): string {
  const pace = wantedEventsPerSecond === null ? 'intake at full speed' : `${short(wantedEventsPerSecond)} events/s offered`;
  return `${pace}, ${storedEvents === 0 ? 'none' : short(storedEvents)} stored before`;
}
