import type { EngineName } from '../../engines/engine.ts';
import { ENGINE_LABELS } from '../race-result.ts';
import { html, type Markup, type MarkupPart, NOTHING } from './html.ts';

export interface PlotText {
  /** Unique within the page. */
  readonly id: string;
  /** Read out instead of the picture, with the description. */
  readonly title: string;
  readonly description: string;
}

/** An SVG as wide as its container with text as large as that of the page. Its content is laid out in per cent across and pixels down. */
export function fluidSvg(text: PlotText, height: number, content: MarkupPart): Markup {
  return svg(text, html`width="100%" height="${height}"`, content);
}

/** An SVG of a fixed shape. */
function fixedSvg(text: PlotText, width: number, height: number, content: MarkupPart): Markup {
  return svg(text, html`viewBox="0 0 ${width} ${height}"`, content);
}

function svg({ id, title, description }: PlotText, size: Markup, content: MarkupPart): Markup {
  return html`<svg role="img" aria-labelledby="${id}-title ${id}-description" ${size}>
<title id="${id}-title">${title}</title>
<desc id="${id}-description">${description}</desc>
${content}
</svg>`;
}

/** A figure with its caption above. */
export function figure(caption: MarkupPart, content: MarkupPart, className = ''): Markup {
  return html`<figure${className === '' ? NOTHING : html` class="${className}"`}>
<figcaption>${caption}</figcaption>
${content}
</figure>`;
}

/** A share between 0 and 1 as a percentage. */
export const percent = (share: number) => `${Number((share * 100).toFixed(2))}%`;

/** A scale that maps numbers to positions along an axis. */
export interface Scale {
  readonly kind: 'log' | 'linear';
  readonly low: number;
  readonly high: number;
  /** Ascending, within low and high. */
  readonly ticks: readonly number[];
}

/** A scale from the power of ten below the smallest value to the greatest. Values not above 0 have no logarithm and are at the low end. */
export function logScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => Number.isFinite(value) && value > 0);
  // The low end is below the smallest value, so that no bar has length 0.
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive, Number.MAX_VALUE) * 0.8));
  const from = positive.length === 0 ? 1 : low;
  const high = Math.max(...positive, from * 10);
  const decades = Math.floor(Math.log10(high / from) + 1e-9);
  return { kind: 'log', low: from, high, ticks: Array.from({ length: decades + 1 }, (_, decade) => from * 10 ** decade) };
}

/** A scale from zero to the first round number that no value exceeds. */
export function linearScale(values: readonly number[]): Scale {
  const highest = Math.max(0, ...values.filter((value) => Number.isFinite(value))) || 1;
  const magnitude = 10 ** Math.floor(Math.log10(highest));
  const step = [0.2, 0.5, 1, 2].map((part) => part * magnitude).find((part) => highest / part <= 6) as number;
  const count = Math.ceil(highest / step - 1e-9);
  return { kind: 'linear', low: 0, high: count * step, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) };
}

/** A scale from the smallest to the greatest of the ticks. */
export function fittedLogScale(ticks: readonly number[]): Scale {
  return { kind: 'log', low: Math.min(...ticks), high: Math.max(...ticks), ticks };
}

/** The position of a value between the low (0) and the high end (1). A value outside is at the nearer end, NaN at the low one. */
export function positionOn({ kind, low, high }: Scale, value: number): number {
  const across = kind === 'log' ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Number.isNaN(across) ? 0 : Math.min(1, Math.max(0, across));
}

export interface Bar {
  readonly engine: EngineName;
  readonly value: number;
  /** The smallest and the greatest of the values of which `value` is the median. */
  readonly spread: readonly [number, number];
}

export interface BarRow {
  /** A text above the bars; none if empty. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** A text at the right end; none if empty. */
  readonly note: string;
  /** The note is shown as a warning. */
  readonly isLoss: boolean;
}

export interface BarPlot extends PlotText {
  readonly scale: Scale;
  readonly shown: (value: number) => string;
  /** Writes a tick of the scale. */
  readonly tick: (value: number) => string;
  /** The heading of the notes. */
  readonly noteHeading: string;
  readonly rows: readonly BarRow[];
}

const HEAD = 26;
const LABEL = 21;
const BAR = 9;
const PITCH = 13.5;
const ROW_GAP = 12;
/** The share of the width that the scale takes. The rest is for figures. */
const WIDTH = 0.7;

/** Horizontal bars with figures at their ends. The bars of one row are below one another. */
export function plotBars({ scale, shown, tick, noteHeading, rows, ...text }: BarPlot): Markup {
  const at = (value: number) => positionOn(scale, value) * WIDTH;
  let top = HEAD;
  const drawn = rows.map((row) => {
    const barsTop = top + (row.label === '' ? 0 : LABEL);
    const label = row.label === '' ? NOTHING : html`<text class="label" x="0" y="${top + 13}">${row.label}</text>\n`;
    top = barsTop + row.bars.length * PITCH + ROW_GAP;
    return html`${label}${row.bars.map((bar, index) => drawBar(bar, at, shown, barsTop + index * PITCH))}${drawNote(row, barsTop)}`;
  });
  const bottom = top - ROW_GAP;
  const ticks = scale.ticks.map((value) => {
    const x = percent(at(value));
    return html`<line class="grid" x1="${x}" x2="${x}" y1="${HEAD - 8}" y2="${bottom}"/>
<text class="tick" x="${x}" y="${HEAD - 12}">${tick(value)}</text>\n`;
  });
  return fluidSvg(text, top, html`<text class="tick end" x="100%" y="${HEAD - 12}">${noteHeading}</text>\n${ticks}${drawn}`);
}

function drawBar(
  { engine, value, spread: [low, high] }: Bar,
  at: (value: number) => number,
  shown: (value: number) => string,
  y: number,
): Markup {
  const middle = y + BAR / 2;
  const spread = html`<line class="spread" x1="${percent(at(low))}" x2="${percent(at(high))}" y1="${middle}" y2="${middle}"/>`;
  const title = html`<title>${ENGINE_LABELS[engine]}: ${shown(value)}</title>`;
  const end = percent(at(Math.max(value, high)));
  const bar = html`<rect class="bar ${engine}" x="0" y="${y}" width="${percent(at(value))}" height="${BAR}">${title}</rect>`;
  const figure = html`<text class="value" x="${end}" dx="5" y="${middle + 4}">${shown(value)}</text>`;
  return html`${bar}${low === high ? NOTHING : spread}${figure}\n`;
}

function drawNote({ bars, note, isLoss }: BarRow, top: number): Markup {
  const y = top + ((bars.length - 1) * PITCH + BAR) / 2 + 4.5;
  return note === '' ? NOTHING : html`<text class="${isLoss ? 'note loss' : 'note'}" x="100%" y="${y}">${note}</text>\n`;
}

interface Axis {
  readonly scale: Scale;
  readonly shown: (value: number) => string;
  /** Writes a tick of the scale. */
  readonly tick: (value: number) => string;
}

export interface LinePlot extends PlotText {
  readonly width: number;
  readonly height: number;
  /** The width of the labels on the right. */
  readonly right: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly {
    readonly engine: EngineName;
    readonly points: readonly { readonly x: number; readonly y: number }[];
    /** The text at the right end of the line. */
    readonly label: string;
  }[];
}

const LEFT = 38;
const TOP = 10;
const BOTTOM = 22;
const LINE_HEIGHT = 12;

/** Lines of the engines with labels at their ends: circles on a solid line for our engine, squares on a dashed one for the rival. */
export function plotLines({ width, height, right, x, y, lines, ...text }: LinePlot): Markup {
  const across = (value: number) => rounded(LEFT + positionOn(x.scale, value) * (width - LEFT - right));
  const down = (value: number) => rounded(height - BOTTOM - positionOn(y.scale, value) * (height - TOP - BOTTOM));
  const yTicks = y.scale.ticks.map(
    (tick) =>
      html`<line class="grid" x1="${LEFT}" x2="${width - right}" y1="${down(tick)}" y2="${down(tick)}"/>
<text class="tick end" x="${LEFT - 6}" y="${down(tick) + 4}">${y.tick(tick)}</text>\n`,
  );
  const xTicks = x.scale.ticks.map((tick) => html`<text class="tick" x="${across(tick)}" y="${height - 5}">${x.tick(tick)}</text>\n`);
  const labelYs = apart(lines.map(({ points }) => down(points.at(-1)?.y ?? Number.NaN)));
  const drawn = lines.map(({ engine, points, label }, index) => {
    const path = points.map((point) => `${across(point.x)},${down(point.y)}`).join(' ');
    const marks = points.map((point) =>
      mark(engine, across(point.x), down(point.y), `${ENGINE_LABELS[engine]}, ${x.shown(point.x)}: ${y.shown(point.y)}`),
    );
    const labelX = across(points.at(-1)?.x ?? Number.NaN) + 8;
    return html`<polyline class="line ${engine}" points="${path}"/>${marks}
<text class="value ${engine}" x="${labelX}" y="${(labelYs[index] ?? 0) + 4}">${label}</text>\n`;
  });
  return fixedSvg(text, width, height, html`${yTicks}${xTicks}${drawn.toReversed()}`);
}

function mark(engine: EngineName, x: number, y: number, title: string): Markup {
  return engine === 'clickhouse'
    ? html`<rect class="mark ${engine}" x="${x - 2.5}" y="${y - 2.5}" width="5" height="5"><title>${title}</title></rect>`
    : html`<circle class="mark ${engine}" cx="${x}" cy="${y}" r="3"><title>${title}</title></circle>`;
}

/** Moves two labels apart that would overlap. */
function apart(positions: readonly number[]): readonly number[] {
  const [one, other] = positions;
  if (one === undefined || other === undefined || Math.abs(one - other) >= LINE_HEIGHT) {
    return positions;
  }
  const middle = (one + other) / 2;
  const half = LINE_HEIGHT / 2;
  return one <= other ? [middle - half, middle + half] : [middle + half, middle - half];
}

const rounded = (value: number) => Number(value.toFixed(1));
