import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../../../query/event-fields.ts';
import { parseSearchLine } from '../../../../query/search-line.ts';
import { cellOf, GROUP_OBJECTS, groupColumns, ROW_COLUMNS, ROW_OBJECTS, recordOf } from '../../../../src/cli/search/output-columns.ts';
import { HOSTILE_STRINGS } from '../../../corpus/hostile-strings.ts';
import { assertProperty } from '../../../random/assert-property.ts';

const WHOLE = 10_000;

/** The cell of a value, as a table of rows and one of groups have it. */
function cellsOf(field: (typeof DIMENSIONS)[number], value: string): readonly string[] {
  const row = recordOf(JSON.stringify({ fields: { [field]: value } }), ROW_OBJECTS);
  const group = recordOf(JSON.stringify({ key: { [field]: value } }), GROUP_OBJECTS);
  const columns = [ROW_COLUMNS, groupColumns([field])].map((all) => all.find(({ name }) => name === field));
  return [row, group].flatMap((record, index) => {
    const column = columns[index];
    return column === undefined ? [] : [cellOf(column, record).fit(WHOLE)];
  });
}

function expectFound(field: (typeof DIMENSIONS)[number], value: string): void {
  const cells = cellsOf(field, value);
  expect(cells).toHaveLength(2);
  for (const cell of cells) {
    expect(parseSearchLine(`${field}:${cell}`)).toEqual({ query: '', filters: [{ field, op: 'eq', value: [value] }], exclude: [] });
  }
}

describe('a value that a table shows whole is found when it is copied behind its field', () => {
  test.each([
    ['/a?ids=1,2', '"/a?ids=1,2"'],
    ['C:\\temp', '"C:\\\\temp"'],
    ['"><script>', '"\\"><script>"'],
    ['a b', '"a b"'],
    ['*', '"*"'],
    ['~a', '"~a"'],
    ['\u001b[31m', '\\u001b[31m'],
    ['a\tb\nc', '"a\\u0009b\\u000ac"'],
    ['\u0000\u007f\u0085\u202e', '\\u0000\\u007f\\u0085\\u202e'],
    ['a\u2028b', '"a\\u2028b"'],
    ['\\u001b', '"\\\\u001b"'],
    ['\\\u001b', '"\\\\\\u001b"'],
    ['\u001b0', '\\u001b0'],
    ['https://www.example.net/?a=b&c', 'https://www.example.net/?a=b&c'],
  ])('%s', (value, cell) => {
    expect(cellsOf('url', value)).toEqual([cell, cell]);
    expectFound('url', value);
  });

  test.each(HOSTILE_STRINGS.filter(({ text }) => text !== '' && text.isWellFormed() && text.length < WHOLE / 6))('$name', ({ text }) => {
    for (const field of DIMENSIONS) expectFound(field, text);
  });

  test('whatever it is', () => {
    const text = fc
      .oneof(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.string({ unit: fc.constantFrom(...'a ,*~"\\:/-1u0b\t\n\u001b\u0085\u2028\u202e'), minLength: 1 }),
      )
      .filter((value) => value.isWellFormed());
    assertProperty(fc.property(fc.constantFrom(...DIMENSIONS), text, expectFound));
  });
});

test('other texts, and an empty value, are shown as they are', () => {
  const row = recordOf(JSON.stringify({ logId: 'a b', fields: { ruleName: 'a "b"', ua: '' } }), ROW_OBJECTS);
  const shown = ROW_COLUMNS.filter(({ name }) => ['logId', 'ruleName', 'ua'].includes(name)).map((column) =>
    cellOf(column, row).fit(WHOLE),
  );
  expect(shown).toEqual(['a b', 'a "b"', '']);
});
