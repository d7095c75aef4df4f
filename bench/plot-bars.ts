import { ENGINE_LABELS } from './engine-label.ts';
import type { EngineName } from './engines/engine.ts';
import { html, type Markup, NOTHING } from './html-markup.ts';
import { fluidSvg, type PlotText, percent } from './plot-figure.ts';
import { placeOn, type Scale } from './plot-scale.ts';

export interface Bar {
  readonly engine: EngineName;
  readonly value: number;
  /** What the value is the median of reaches from the first to the second. */
  readonly spread: readonly [number, number];
}

export interface BarPanel {
  readonly heading: string;
  readonly scale: Scale;
  readonly shown: (value: number) => string;
  /** Of the scale's ticks. */
  readonly tick: (value: number) => string;
}

export interface BarRow {
  /** Above the bars; none if empty. */
  readonly label: string;
  /** For each panel. */
  readonly cells: readonly { readonly bars: readonly Bar[]; readonly note: string; readonly isLoss: boolean }[];
}

export interface BarPlot extends PlotText {
  readonly panels: readonly BarPanel[];
  readonly rows: readonly BarRow[];
}

const HEAD = 44;
const LABEL = 20;
const BAR = 9;
const PITCH = 13;
const ROW_GAP = 12;
const PANEL_GAP = 0.05;
/** Of a panel's width; the rest is for figures. */
const BARS_WIDTH = 0.68;

/** Horizontal bars, those of one row below one another, in panels beside one another; every bar with its figure at its end. */
export function plotBars({ panels, rows, ...text }: BarPlot): Markup {
  const width = (1 - PANEL_GAP * (panels.length - 1)) / panels.length;
  const lefts = panels.map((_, place) => place * (width + PANEL_GAP));
  const rowHeight = ({ label, cells }: BarRow) =>
    (label === '' ? 0 : LABEL) + Math.max(0, ...cells.map(({ bars }) => bars.length)) * PITCH + ROW_GAP;
  const height = rows.reduce((sum, row) => sum + rowHeight(row), HEAD);
  let top = HEAD;
  const drawn = rows.map((row) => {
    const barsTop = top + (row.label === '' ? 0 : LABEL);
    const label = row.label === '' ? NOTHING : html`<text class="label" x="0" y="${top + 13}">${row.label}</text>\n`;
    top += rowHeight(row);
    return html`${label}${row.cells.map((cell, place) => drawCell(cell, panels[place] as BarPanel, lefts[place] as number, width, barsTop))}`;
  });
  const axes = panels.map((panel, place) => drawAxis(panel, lefts[place] as number, width * BARS_WIDTH, height - ROW_GAP));
  return fluidSvg(text, height, html`${axes}${drawn}`);
}

function drawAxis({ heading, scale, tick: shown }: BarPanel, left: number, width: number, bottom: number): Markup {
  const ticks = scale.ticks.map((tick) => {
    const x = percent(left + placeOn(scale, tick) * width);
    return html`<line class="grid" x1="${x}" x2="${x}" y1="${HEAD - 8}" y2="${bottom}"/><text class="tick" x="${x}" y="${HEAD - 12}">${shown(tick)}</text>\n`;
  });
  return html`<text class="heading" x="${percent(left)}" y="14">${heading}</text>\n${ticks}`;
}

function drawCell(
  { bars, note, isLoss }: BarRow['cells'][number],
  { scale, shown }: BarPanel,
  left: number,
  width: number,
  top: number,
): Markup {
  const at = (value: number) => left + placeOn(scale, value) * width * BARS_WIDTH;
  const drawn = bars.map(({ engine, value, spread: [least, most] }, place) => {
    const y = top + place * PITCH;
    const middle = y + BAR / 2;
    const range =
      least === most
        ? NOTHING
        : html`<line class="spread" x1="${percent(at(least))}" x2="${percent(at(most))}" y1="${middle}" y2="${middle}"/>`;
    const bar = html`<rect class="bar ${engine}" x="${percent(left)}" y="${y}" width="${percent(at(value) - left)}" height="${BAR}"><title>${ENGINE_LABELS[engine]}: ${shown(value)}</title></rect>`;
    return html`${bar}${range}<text class="value" x="${percent(at(Math.max(value, most)))}" dx="5" y="${middle + 4}">${shown(value)}</text>\n`;
  });
  const noteY = top + ((bars.length - 1) * PITCH + BAR) / 2 + 4.5;
  const written = html`<text class="${isLoss ? 'note loss' : 'note'}" x="${percent(left + width)}" y="${noteY}">${note}</text>\n`;
  return html`${drawn}${note === '' ? NOTHING : written}`;
}
