import type { EngineName } from '../../engines/engine.ts';
import { ENGINE_LABELS } from '../engine-label.ts';
import { html, type Markup, NOTHING } from './html-markup.ts';
import { fluidSvg, type PlotText, percent } from './plot-figure.ts';
import { placeOn, type Scale } from './plot-scale.ts';

export interface Bar {
  readonly engine: EngineName;
  readonly value: number;
  /** What the value is the median of reaches from the first to the second. */
  readonly spread: readonly [number, number];
}

export interface BarRow {
  /** Above the bars; none if empty. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** At the right end; none if empty. */
  readonly note: string;
  /** The note is set off as bad news. */
  readonly isLoss: boolean;
}

export interface BarPlot extends PlotText {
  readonly scale: Scale;
  readonly shown: (value: number) => string;
  /** Of the scale's ticks. */
  readonly tick: (value: number) => string;
  /** Above the notes. */
  readonly noteHeading: string;
  readonly rows: readonly BarRow[];
}

const HEAD = 26;
const LABEL = 21;
const BAR = 9;
const PITCH = 13.5;
const ROW_GAP = 12;
/** How far the scale reaches across; the rest is for figures. */
const WIDTH = 0.7;

/** Horizontal bars, those of one row below one another, every bar with its figure at its end. */
export function plotBars({ scale, shown, tick, noteHeading, rows, ...text }: BarPlot): Markup {
  const at = (value: number) => placeOn(scale, value) * WIDTH;
  let top = HEAD;
  const drawn = rows.map((row) => {
    const barsTop = top + (row.label === '' ? 0 : LABEL);
    const label = row.label === '' ? NOTHING : html`<text class="label" x="0" y="${top + 13}">${row.label}</text>\n`;
    top = barsTop + row.bars.length * PITCH + ROW_GAP;
    return html`${label}${row.bars.map((bar, place) => drawBar(bar, at, shown, barsTop + place * PITCH))}${drawNote(row, barsTop)}`;
  });
  const bottom = top - ROW_GAP;
  const ticks = scale.ticks.map((value) => {
    const x = percent(at(value));
    return html`<line class="grid" x1="${x}" x2="${x}" y1="${HEAD - 8}" y2="${bottom}"/><text class="tick" x="${x}" y="${HEAD - 12}">${tick(value)}</text>\n`;
  });
  return fluidSvg(text, top, html`<text class="tick end" x="100%" y="${HEAD - 12}">${noteHeading}</text>\n${ticks}${drawn}`);
}

function drawBar(
  { engine, value, spread: [least, most] }: Bar,
  at: (value: number) => number,
  shown: (value: number) => string,
  y: number,
): Markup {
  const middle = y + BAR / 2;
  const spread = html`<line class="spread" x1="${percent(at(least))}" x2="${percent(at(most))}" y1="${middle}" y2="${middle}"/>`;
  const title = html`<title>${ENGINE_LABELS[engine]}: ${shown(value)}</title>`;
  return html`<rect class="bar ${engine}" x="0" y="${y}" width="${percent(at(value))}" height="${BAR}">${title}</rect>${least === most ? NOTHING : spread}<text class="value" x="${percent(at(Math.max(value, most)))}" dx="5" y="${middle + 4}">${shown(value)}</text>\n`;
}

function drawNote({ bars, note, isLoss }: BarRow, top: number): Markup {
  const y = top + ((bars.length - 1) * PITCH + BAR) / 2 + 4.5;
  return note === '' ? NOTHING : html`<text class="${isLoss ? 'note loss' : 'note'}" x="100%" y="${y}">${note}</text>\n`;
}
