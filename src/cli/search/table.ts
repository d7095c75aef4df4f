import stringWidth from 'string-width';
import { printable } from '../../../query/search-line.ts';

/** A cell of a table. What it shows depends on how many columns of the terminal it gets. */
export interface Cell {
  /** The columns that it would like to have. */
  readonly width: number;
  /** Returns its text in at most so many columns. */
  fit(columns: number): string;
}

export interface TerminalColumn {
  readonly header: string;
  readonly isRight: boolean;
  /** Whether the column is made narrower only where that of the others is not enough. */
  readonly isStiff: boolean;
  /** Styles a cell's text, with blanks around it; it adds no width. */
  style(fitted: string): string;
}

const GAP = '  ';

/** Columns that a cell keeps: with fewer, nobody can tell what it says, and the column at the right is left out instead. */
const MIN_WIDTH = 4;

/** Columns that a cell of a stiff column keeps: they show a whole number, a time to its minute, and the network of an address. */
const MIN_STIFF_WIDTH = 16;

/** Longer texts are cut before they are measured, in UTF-16 units. */
const MAX_UNITS = 8_192;

const segmenter = new Intl.Segmenter();

/** Cuts a text to so many columns of a terminal, between two characters as people see them. `…` stands for what is left out. */
export function cutToWidth(text: string, columns: number): string {
  if (text.length <= MAX_UNITS && stringWidth(text) <= columns) return text;
  let [cut, width] = ['', 0];
  for (const { segment } of segmenter.segment(text.slice(0, MAX_UNITS))) {
    width += stringWidth(segment);
    if (width > columns - 1) break;
    cut += segment;
  }
  return columns > 0 ? `${cut}…` : '';
}

/** A cell with foreign text, of which controls are shown as escapes. */
export function textCell(text: string): Cell {
  const shown = printable(text.slice(0, MAX_UNITS + 1)).toWellFormed();
  return { width: stringWidth(shown.slice(0, MAX_UNITS)), fit: (columns) => cutToWidth(shown, columns) };
}

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Draws counts in block characters, the greatest as a full block. Nothing is a blank, and every other count at least the lowest block. */
export function sparkline(counts: readonly number[]): string {
  const greatest = counts.reduce((max, count) => Math.max(max, count), 0);
  return counts.map((count) => (count === 0 ? ' ' : BLOCKS[Math.ceil((count / greatest) * BLOCKS.length) - 1])).join('');
}

/** A cell with a sparkline. In fewer columns, neighbours are added up. */
export function sparklineCell(counts: readonly number[]): Cell {
  return {
    width: counts.length,
    fit: (columns) => {
      if (columns >= counts.length) return sparkline(counts);
      const sums = new Array<number>(columns).fill(0);
      if (columns === 0) return '';
      for (const [index, count] of counts.entries()) {
        const into = Math.floor((index * columns) / counts.length);
        sums[into] = (sums[into] ?? 0) + count;
      }
      return sparkline(sums);
    },
  };
}

/**
 * Returns the width of each column of a table in a terminal of so many columns. Columns at the right for which there is no room beside the
 * others are left out.
 */
export function columnWidths(
  columns: readonly Pick<TerminalColumn, 'isStiff'>[],
  wanted: readonly number[],
  terminal: number,
): readonly number[] {
  for (let count = columns.length; count > 0; count -= 1) {
    const room = terminal - GAP.length * (count - 1);
    const some = wanted.slice(0, count);
    const kept = (stiffLeast: number) => (index: number) =>
      Math.min(some[index] ?? 0, columns[index]?.isStiff === true ? stiffLeast : MIN_WIDTH);
    const bent = narrowed(some, room, kept(Number.POSITIVE_INFINITY));
    const narrow = narrowed(bent, room, kept(MIN_STIFF_WIDTH));
    if (sum(narrow) <= room) return narrow;
    if (count === 1 && room > 0) return narrowed(narrow, room, () => 1);
  }
  return [];
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

/** Narrows the widest first until all fit into the room, none below its least. */
function narrowed(widths: readonly number[], room: number, least: (index: number) => number): readonly number[] {
  if (sum(widths) <= room) return widths;
  const capped = (cap: number): readonly number[] => widths.map((width, index) => Math.min(width, Math.max(cap, least(index))));
  let cap = Math.max(...widths);
  while (cap > 0 && sum(capped(cap)) > room) cap -= 1;
  // The cap above leaves some columns of the terminal over; the first ones that want it get one more.
  let left = room - sum(capped(cap));
  return capped(cap).map((width, index) => {
    if (left <= 0 || width >= (widths[index] ?? 0)) return width;
    left -= 1;
    return width + 1;
  });
}

/** Draws lines of a table; null: its header. The last column is not padded. */
export function tableLine(columns: readonly TerminalColumn[], widths: readonly number[], cells: readonly Cell[]): string {
  const fitted = widths.map((width, index) => {
    const column = columns[index] as TerminalColumn;
    const text = cells[index]?.fit(width) ?? '';
    const padding = ' '.repeat(Math.max(0, width - stringWidth(text)));
    const isLast = index === widths.length - 1;
    return column.style(column.isRight ? `${padding}${text}` : `${text}${isLast ? '' : padding}`);
  });
  return fitted.join(GAP);
}
