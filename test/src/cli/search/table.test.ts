import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import {
  type Cell,
  columnWidths,
  cutToWidth,
  sparkline,
  sparklineCell,
  type TerminalColumn,
  tableLine,
  textCell,
} from '../../../../src/cli/search/table.ts';
import { assertProperty } from '../../../random/assert-property.ts';

const HOSTILE = [
  '\u001b[2J',
  '\u009b31m',
  '\r\n',
  '\u202eevil\u2066',
  '日本語',
  '👩‍👩‍👧',
  'e\u0301\u0301',
  '\u0600',
  '\ud800',
  '…',
  '\u200b',
  'ไทย',
  'ｶﾞ',
  '🇩🇪',
  '\u0000',
];

/** Texts of pieces that terminals count in their own ways. */
const anyText = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 8 })
  .map((pieces) => pieces.join(''));

describe('a text that is cut', () => {
  test.each<[text: string, columns: number, cut: string]>([
    ['short', 5, 'short'],
    ['longer', 5, 'long…'],
    ['日本語', 6, '日本語'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['👩‍👩‍👧 family', 3, '👩‍👩‍👧…'],
    ['👩‍👩‍👧 family', 2, '…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
    ['', 0, ''],
  ])('%j in %i columns is %j', (text, columns, cut) => {
    expect(cutToWidth(text, columns)).toBe(cut);
  });

  test('never takes more columns than it has, and begins as the text does', () => {
    assertProperty(
      fc.property(anyText, fc.nat(30), (text, columns) => {
        const cell = textCell(text);
        const fitted = cell.fit(columns);
        expect(stringWidth(fitted)).toBeLessThanOrEqual(columns);
        expect(fitted).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        if (cell.width <= columns) expect(fitted).toBe(cell.fit(Number.POSITIVE_INFINITY));
        else expect(cell.fit(Number.POSITIVE_INFINITY).startsWith(fitted.slice(0, -1))).toBe(true);
      }),
    );
  });

  test('is cut before it is measured, where it is as long as a book', () => {
    expect(textCell('x'.repeat(10_000_000)).fit(10)).toBe('xxxxxxxxx…');
    expect(textCell('x'.repeat(10_000)).fit(Number.POSITIVE_INFINITY)).toMatch(/^x{8192}…$/);
  });
});

describe('a sparkline', () => {
  test.each<[counts: readonly number[], drawn: string]>([
    [[], ''],
    [[0, 0], '  '],
    [[1], '█'],
    [[0, 1, 1_000_000], ' ▁█'],
    [[1, 2, 3, 4, 5, 6, 7, 8], '▁▂▃▄▅▆▇█'],
    [[8, 4], '█▄'],
  ])('%j is %j', (counts, drawn) => {
    expect(sparkline(counts)).toBe(drawn);
  });

  test.each<[columns: number, drawn: string]>([
    [6, '▁▁ █▂▂'],
    [3, '▁█▃'],
    [2, '▁█'],
    [1, '█'],
    [0, ''],
  ])('in %i columns adds up neighbours: %j', (columns, drawn) => {
    expect(sparklineCell([1, 1, 0, 16, 3, 3]).fit(columns)).toBe(drawn);
  });
});

const column = (isStiff: boolean, isRight = false): TerminalColumn => ({ header: '', isRight, isStiff, style: (text) => text });

describe('the widths of columns', () => {
  test.each<[what: string, stiff: readonly boolean[], wanted: readonly number[], terminal: number, widths: readonly number[]]>([
    ['that fit', [false, false], [5, 10], 17, [5, 10]],
    ['of which the widest is made narrower', [false, false], [5, 10], 14, [5, 7]],
    ['of which some are stiff', [true, false, false], [24, 10, 30], 50, [24, 10, 12]],
    ['of which one keeps four columns', [true, false], [24, 30], 30, [24, 4]],
    ['of which the stiff ones are made narrower last', [true, false], [24, 30], 29, [23, 4]],
    ['of which the stiff ones keep what can be told apart', [true, true, false], [24, 39, 30], 42, [17, 17, 4]],
    ['of which numbers stay whole, and the last is left out', [false, true, true], [30, 5, 24], 28, [21, 5]],
    ['without room for the last', [false, false, false], [9, 9, 9], 12, [5, 5]],
    ['of which the first is all there is room for', [false, false], [9, 9], 3, [3]],
    ['without room for any', [true], [9], 0, []],
    ['in no terminal', [false, false], [500, 9_000], Number.POSITIVE_INFINITY, [500, 9_000]],
  ])('%s', (_what, stiff, wanted, terminal, widths) => {
    expect(
      columnWidths(
        stiff.map((isStiff) => column(isStiff)),
        wanted,
        terminal,
      ),
    ).toEqual(widths);
  });

  test('a line is never wider than the terminal, and fills it where something is cut', () => {
    const content = fc.oneof(anyText, fc.array(fc.nat(9), { maxLength: 40 }));
    const columns = fc.record({ content, isStiff: fc.boolean(), isRight: fc.boolean() });
    assertProperty(
      fc.property(fc.array(columns, { maxLength: 8 }), fc.nat(100), (row, terminal) => {
        const cells = row.map((each): Cell => (typeof each.content === 'string' ? textCell(each.content) : sparklineCell(each.content)));
        const drawn = row.map(({ isStiff, isRight }) => column(isStiff, isRight));
        const wanted = cells.map(({ width }) => width);
        const widths = columnWidths(drawn, wanted, terminal);
        const line = tableLine(drawn, widths, cells);
        expect(stringWidth(line)).toBeLessThanOrEqual(terminal);
        const total = widths.reduce((sum, width) => sum + width, 2 * Math.max(0, widths.length - 1));
        const isCut = widths.some((width, index) => width < (wanted[index] ?? 0));
        if (isCut && widths.length === row.length) expect(total).toBe(terminal);
        for (const [index, width] of widths.entries()) expect(width).toBeLessThanOrEqual(wanted[index] ?? 0);
      }),
    );
  });
});
