import type { EngineName } from '../../engines/engine.ts';
import { ENGINE_LABELS } from '../engine-label.ts';
import { percentile } from '../percentile.ts';
import { html, type Markup } from './html-markup.ts';
import { tickNumber, twoDigits } from './html-number.ts';
import { fluidSvg, type PlotText, percent } from './plot-figure.ts';
import { logScale, placeOn, type Scale } from './plot-scale.ts';

export interface LatencyGroup {
  readonly label: string;
  readonly rows: readonly { readonly engine: EngineName; readonly times: readonly number[] }[];
}

export interface LatencyPlot extends PlotText {
  readonly groups: readonly LatencyGroup[];
}

const HEAD = 30;
const LABEL = 20;
const ROW = 34;
const GROUP_GAP = 14;
/** How wide the scale is; the rest is for what is written at its right end. */
const WIDTH = 0.94;
const PERCENTILES = [
  { share: 0.5, name: 'p50', size: 5 },
  { share: 0.95, name: 'p95', size: 3.5 },
  { share: 0.99, name: 'p99', size: 2 },
] as const;

/** Every single time as a fine stroke, and the percentiles as marks, the higher the smaller: on one logarithmic scale of milliseconds. */
export function plotLatencies({ groups, ...text }: LatencyPlot): Markup {
  const scale = logScale(groups.flatMap(({ rows }) => rows.flatMap(({ times }) => times)));
  const heightOf = ({ rows }: LatencyGroup) => LABEL + rows.length * ROW + GROUP_GAP;
  const height = groups.reduce((sum, group) => sum + heightOf(group), HEAD);
  const ticks = scale.ticks.map((tick) => {
    const x = percent(placeOn(scale, tick) * WIDTH);
    return html`<line class="grid" x1="${x}" x2="${x}" y1="${HEAD - 8}" y2="${height - GROUP_GAP}"/><text class="tick" x="${x}" y="${HEAD - 12}">${tickNumber(tick)}</text>\n`;
  });
  let top = HEAD;
  const drawn = groups.map((group) => {
    const groupTop = top;
    top += heightOf(group);
    const rows = group.rows.map((row, place) => drawRow(row, scale, groupTop + LABEL + place * ROW));
    return html`<text class="group" x="0" y="${groupTop + 13}">${group.label}</text>\n${rows}`;
  });
  return fluidSvg(text, height, html`${ticks}${drawn}`);
}

function drawRow({ engine, times }: LatencyGroup['rows'][number], scale: Scale, top: number): Markup {
  const at = (value: number) => percent(placeOn(scale, value) * WIDTH);
  const values = PERCENTILES.map(({ share, name, size }) => ({ name, size, value: percentile(times, share) }));
  const middle = top + 23;
  // The strokes lie within a picture of their own that is stretched to the width: a path knows no per cent.
  const strokes = [...new Set(times.map((time) => Math.round(placeOn(scale, time) * 1000)))].map((x) => `M${x} 0V10`).join('');
  const rug = html`<svg x="0" y="${middle - 5}" width="${percent(WIDTH)}" height="10" viewBox="0 0 1000 10" preserveAspectRatio="none"><path class="rug ${engine}" d="${strokes}"/></svg>`;
  const marks = values.map(({ value, size, name }) => {
    const title = html`<title>${name}: ${twoDigits(value)} ms</title>`;
    // A rectangle's corner cannot be placed in per cent less pixels; the picture around it can.
    return engine === 'clickhouse'
      ? html`<svg x="${at(value)}" y="${middle}" class="over"><rect class="mark ${engine}" x="${-size}" y="${-size}" width="${2 * size}" height="${2 * size}">${title}</rect></svg>`
      : html`<circle class="mark ${engine}" cx="${at(value)}" cy="${middle}" r="${size}">${title}</circle>`;
  });
  const written = values.map(({ name, value }) => `${name} ${twoDigits(value)}`).join(' · ');
  const label = html`<text class="value" x="0" y="${top + 12}"><tspan class="name ${engine}">${ENGINE_LABELS[engine]}</tspan>  ${written} ms</text>`;
  return html`${label}${rug}${marks.toReversed()}\n`;
}
