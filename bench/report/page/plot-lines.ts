import type { EngineName } from '../../engines/engine.ts';
import { ENGINE_LABELS } from '../engine-label.ts';
import { html, type Markup } from './html-markup.ts';
import { fixedSvg, type PlotText } from './plot-figure.ts';
import { placeOn, type Scale } from './plot-scale.ts';

interface Axis {
  readonly scale: Scale;
  readonly shown: (value: number) => string;
  /** Of the scale's ticks. */
  readonly tick: (value: number) => string;
}

export interface LinePlot extends PlotText {
  readonly width: number;
  readonly height: number;
  /** What the labels need on the right. */
  readonly right: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly {
    readonly engine: EngineName;
    readonly points: readonly { readonly x: number; readonly y: number }[];
    /** Written at the line's right end. */
    readonly label: string;
  }[];
}

const LEFT = 38;
const TOP = 10;
const BOTTOM = 22;
const LINE_HEIGHT = 12;

/**
 * Lines of the engines over a common quantity, each with its label at its end: circles on a line for us, squares on a dashed one for the
 * rival.
 */
export function plotLines({ width, height, right, x, y, lines, ...text }: LinePlot): Markup {
  const across = (value: number) => rounded(LEFT + placeOn(x.scale, value) * (width - LEFT - right));
  const down = (value: number) => rounded(height - BOTTOM - placeOn(y.scale, value) * (height - TOP - BOTTOM));
  const yTicks = y.scale.ticks.map(
    (tick) =>
      html`<line class="grid" x1="${LEFT}" x2="${width - right}" y1="${down(tick)}" y2="${down(tick)}"/><text class="tick end" x="${LEFT - 6}" y="${down(tick) + 4}">${y.tick(tick)}</text>\n`,
  );
  const xTicks = x.scale.ticks.map((tick) => html`<text class="tick" x="${across(tick)}" y="${height - 5}">${x.tick(tick)}</text>\n`);
  const labelYs = apart(lines.map(({ points }) => down(points.at(-1)?.y ?? Number.NaN)));
  const drawn = lines.map(({ engine, points, label }, place) => {
    const path = points.map((point) => `${across(point.x)},${down(point.y)}`).join(' ');
    const marks = points.map((point) =>
      mark(engine, across(point.x), down(point.y), `${ENGINE_LABELS[engine]}, ${x.shown(point.x)}: ${y.shown(point.y)}`),
    );
    const labelX = across(points.at(-1)?.x ?? Number.NaN) + 8;
    return html`<polyline class="line ${engine}" points="${path}"/>${marks}<text class="value ${engine}" x="${labelX}" y="${(labelYs[place] ?? 0) + 4}">${label}</text>\n`;
  });
  return fixedSvg(text, width, height, html`${yTicks}${xTicks}${drawn.toReversed()}`);
}

function mark(engine: EngineName, x: number, y: number, title: string): Markup {
  return engine === 'clickhouse'
    ? html`<rect class="mark ${engine}" x="${x - 2.5}" y="${y - 2.5}" width="5" height="5"><title>${title}</title></rect>`
    : html`<circle class="mark ${engine}" cx="${x}" cy="${y}" r="3"><title>${title}</title></circle>`;
}

/** Moves two labels that would be written over one another so far apart that they are not. */
function apart(places: readonly number[]): readonly number[] {
  const [one, other] = places;
  if (one === undefined || other === undefined || Math.abs(one - other) >= LINE_HEIGHT) {
    return places;
  }
  const middle = (one + other) / 2;
  const half = LINE_HEIGHT / 2;
  return one <= other ? [middle - half, middle + half] : [middle + half, middle - half];
}

const rounded = (value: number) => Number(value.toFixed(1));
