import type { EngineName } from '../../engines/engine.ts';
import { percentile } from '../figures.ts';
import { ENGINE_LABELS, inOrder, type MixedFigures, type RaceResult } from '../race-result.ts';
import { eventsPerSecond, slowdownText } from '../race-summary.ts';
import { aligned, factor, html, htmlTable, type Markup, mebibytes, NOTHING, power, short, tickNumber, twoDigits, whole } from './html.ts';
import { figure, fluidSvg, logScale, type PlotText, percent, positionOn, type Scale } from './plots.ts';

interface Condition {
  readonly label: string;
  readonly rows: readonly {
    readonly engine: EngineName;
    readonly name: string;
    readonly times: readonly number[];
    readonly figures: MixedFigures | null;
  }[];
}

/** The times of a dashboard's searches without an intake and during one. */
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
  const caption = html`The time of each search in milliseconds on a <strong>logarithmic scale</strong>: a stroke for each, marks at p50, p95
and p99, the higher the smaller.`;
  return html`<section id="mixed"><h2>Searching while events come in</h2>
${figure(caption, plot)}
${table}
</section>`;
}

/** The runs of the engines, grouped by their circumstances. */
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

interface LatencyGroup {
  readonly label: string;
  readonly rows: readonly { readonly engine: EngineName; readonly times: readonly number[] }[];
}

interface LatencyPlot extends PlotText {
  readonly groups: readonly LatencyGroup[];
}

const HEAD = 30;
const LABEL = 20;
const ROW = 34;
const GROUP_GAP = 14;
/** The share of the width that the scale takes. The rest is for the texts at its right end. */
const WIDTH = 0.94;
const PERCENTILES = [
  { share: 0.5, name: 'p50', size: 5 },
  { share: 0.95, name: 'p95', size: 3.5 },
  { share: 0.99, name: 'p99', size: 2 },
] as const;

/** Each time as a fine stroke and the percentiles as marks, smaller for higher ones, on a logarithmic scale of milliseconds. */
function plotLatencies({ groups, ...text }: LatencyPlot): Markup {
  const scale = logScale(groups.flatMap(({ rows }) => rows.flatMap(({ times }) => times)));
  const heightOf = ({ rows }: LatencyGroup) => LABEL + rows.length * ROW + GROUP_GAP;
  const height = groups.reduce((sum, group) => sum + heightOf(group), HEAD);
  const ticks = scale.ticks.map((tick) => {
    const x = percent(positionOn(scale, tick) * WIDTH);
    return html`<line class="grid" x1="${x}" x2="${x}" y1="${HEAD - 8}" y2="${height - GROUP_GAP}"/>
<text class="tick" x="${x}" y="${HEAD - 12}">${tickNumber(tick)}</text>\n`;
  });
  let top = HEAD;
  const drawn = groups.map((group) => {
    const groupTop = top;
    top += heightOf(group);
    const rows = group.rows.map((row, index) => drawRow(row, scale, groupTop + LABEL + index * ROW));
    return html`<text class="group" x="0" y="${groupTop + 13}">${group.label}</text>\n${rows}`;
  });
  return fluidSvg(text, height, html`${ticks}${drawn}`);
}

function drawRow({ engine, times }: LatencyGroup['rows'][number], scale: Scale, top: number): Markup {
  const at = (value: number) => percent(positionOn(scale, value) * WIDTH);
  const values = PERCENTILES.map(({ share, name, size }) => ({ name, size, value: percentile(times, share) }));
  const middle = top + 23;
  // The strokes are in an SVG of their own that is stretched to the width, because a path takes no per cent.
  const strokes = [...new Set(times.map((time) => Math.round(positionOn(scale, time) * 1000)))].map((x) => `M${x} 0V10`).join('');
  const rug = html`<svg x="0" y="${middle - 5}" width="${percent(WIDTH)}" height="10" viewBox="0 0 1000 10"
preserveAspectRatio="none"><path class="rug ${engine}" d="${strokes}"/></svg>`;
  const marks = values.map(({ value, size, name }) => {
    const title = html`<title>${name}: ${twoDigits(value)} ms</title>`;
    // The corner of a rectangle cannot be at per cent minus pixels, but an SVG around it can be at per cent.
    return engine === 'clickhouse'
      ? html`<svg x="${at(value)}" y="${middle}" class="over"><rect class="mark ${engine}"
x="${-size}" y="${-size}" width="${2 * size}" height="${2 * size}">${title}</rect></svg>`
      : html`<circle class="mark ${engine}" cx="${at(value)}" cy="${middle}" r="${size}">${title}</circle>`;
  });
  const written = values.map(({ name, value }) => `${name} ${twoDigits(value)}`).join(' · ');
  const name = html`<tspan class="name ${engine}">${ENGINE_LABELS[engine]}</tspan>`;
  const label = html`<text class="value" x="0" y="${top + 12}">${name}  ${written} ms</text>`;
  return html`${label}${rug}${marks.toReversed()}\n`;
}
