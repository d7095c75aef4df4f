import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../../../query/event-fields.ts';
import { parseSearchLine } from '../../../../query/search-line.ts';
import { cellOf, GROUP_OBJECTS, groupColumns, ROW_COLUMNS, ROW_OBJECTS, recordOf } from '../../../../src/cli/search/event-columns.ts';
import { HOSTILE_STRINGS } from '../../../corpus/hostile-strings.ts';
import { assertProperty } from '../../../random/assert-property.ts';

/** What a table shows as an escape is not shown whole. */
const ESCAPED = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

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
    ['https://www.example.net/?a=b&c', 'https://www.example.net/?a=b&c'],
  ])('%s', (value, cell) => {
    expect(cellsOf('url', value)).toEqual([cell, cell]);
    expectFound('url', value);
  });

  test.each(HOSTILE_STRINGS.filter(({ text }) => text !== '' && !ESCAPED.test(text) && text.length < WHOLE / 2))('$name', ({ text }) => {
    for (const field of DIMENSIONS) expectFound(field, text);
  });

  test('whatever it is', () => {
    const text = fc
      .oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: fc.constantFrom(...'a ,*~"\\:/-1'), minLength: 1 }))
      .filter((value) => !ESCAPED.test(value) && value.isWellFormed());
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
