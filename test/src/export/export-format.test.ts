import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvCell } from '../../../query/csv-cell.ts';
import { TEXT_FIELDS } from '../../../query/event-fields.ts';
import { csvColumns, csvWriter, exportFormat } from '../../../src/export/export-format.ts';
import { joinParts } from '../../../src/http/answer-writes.ts';
import { assertProperty } from '../../random/assert-property.ts';

const record = (ua: string, log = '{}') =>
  joinParts(csvWriter(csvColumns(false))({ zoneId: 1, logId: 'e', timestamp: 0, log: Buffer.from(log), fields: { ua } })).toString();

const [BEFORE, BEHIND] = [TEXT_FIELDS.slice(0, TEXT_FIELDS.indexOf('ua')), TEXT_FIELDS.slice(TEXT_FIELDS.indexOf('ua') + 1)];
const ONE_CELL = new RegExp(`^([^,]*,0,e,${','.repeat(BEFORE.length)}).*?(${','.repeat(BEHIND.length)},\\{\\}\\r\\n)$`, 's');

/** The cell of the user agent as it stands in the record. */
function written(ua: string): string {
  const [, before = '', after = ''] = ONE_CELL.exec(record(ua)) ?? [];
  return record(ua).slice(before.length, -after.length);
}

/** Returns the user agent as a CSV parser reads it. */
const read = (ua: string): string => (parse(record(ua), { record_delimiter: '\r\n' }) as readonly string[][])[0]?.[8] ?? '';

test('any columns of the header, in any order, are read back as their cells', () => {
  const fields = Object.fromEntries(TEXT_FIELDS.map((name) => [name, `${name}, "of" it`]));
  const row = { zoneId: -5, logId: 'e', timestamp: 0, log: Buffer.from('{"a":1}'), fields };
  const cells: Readonly<Record<string, string>> = {
    ...{ time: '1970-01-01T00:00:00.000Z', timestamp: '0', logId: 'e', shieldZoneId: "'-5", log: '{"a":1}', ...fields },
  };
  const columns = fc.shuffledSubarray([...csvColumns(true)], { minLength: 1 });
  assertProperty(
    fc.property(columns, (names) => {
      const { header, writeRow } = exportFormat('text/csv', { hasZones: true, columns: names });
      const read = parse(joinParts([header, ...writeRow(row)]), { record_delimiter: '\r\n' });
      expect(read).toEqual([names, names.map((name) => cells[name])]);
    }),
  );
});

describe('a cell that a spreadsheet takes for a formula begins with an apostrophe', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['=cmd|"/c calc"!A1', `"'=cmd|""/c calc""!A1"`],
  ])('%j', (text, cell) => {
    expect(written(text)).toBe(cell);
    expect(read(text)).toBe(`'${text}`);
  });
});

describe('so does one that is a formula after it was trimmed, or begins with a tab or a line end', () => {
  test.each([
    ['\t', `"'\t"`],
    ['\tx', `"'\tx"`],
    ['\t=1', `"'\t=1"`],
    ['\r', `"'\r"`],
    ['\rx', `"'\rx"`],
    ['\r=1', `"'\r=1"`],
    ['\n', `"'\n"`],
    ['\nx', `"'\nx"`],
    ['\n=1', `"'\n=1"`],
    ['\r\n@SUM(A1)', `"'\r\n@SUM(A1)"`],
    [' =1', "' =1"],
    ['  +1', "'  +1"],
    [' -1', "' -1"],
    [' \t\n@a', `"' \t\n@a"`],
    ['\u00a0=1', "'\u00a0=1"],
    ['\u3000=1', "'\u3000=1"],
    ['\ufeff=1', "'\ufeff=1"],
    ['\u2028=1', "'\u2028=1"],
  ])('%j', (text, cell) => {
    expect(written(text)).toBe(cell);
    expect(read(text)).toBe(`'${text}`);
  });
});

describe('so does one whose sign comes behind characters that are not seen, or is a full-width one', () => {
  const unseen = [
    '\0',
    ' \0',
    '\u0001\u001f',
    '\u007f',
    '\u0085',
    '\u00ad',
    '\u200b',
    '\u200e',
    '\u202e',
    '\u2060',
    '\u{e0041}',
    '\0\ufeff\u3000',
  ];

  test.each(unseen.flatMap((before) => [...'=+-@＝＋－＠'].map((sign) => `${before}${sign}1+1`)))('%j', (text) => {
    expect(written(text)).toBe(`'${text}`);
    expect(read(text)).toBe(`'${text}`);
  });

  test.each([...'＝＋－＠'])('%sSUM(A1)', (sign) => {
    expect(written(`${sign}SUM(A1)`)).toBe(`'${sign}SUM(A1)`);
  });
});

test('a formula behind random white space, controls and format characters has the apostrophe, and only that is added', () => {
  const unseen = fc.string({ unit: fc.constantFrom(...unseenCharacters()), maxLength: 20 });
  assertProperty(
    fc.property(unseen, fc.constantFrom(...'=+-@＝＋－＠'), fc.string({ unit: 'grapheme' }), (before, sign, rest) => {
      const text = `${before}${sign}${rest}`;
      expect(read(text)).toBe(`'${text}`);
    }),
  );
});

describe("so does one that has `'`s in front already, so that it is told from the same without them", () => {
  test.each([
    ["'=1", "''=1"],
    ["''=1", "'''=1"],
    ["' =1", "'' =1"],
    ["'\ufeff@a", "''\ufeff@a"],
    ["'\tx", `"''\tx"`],
    ["'\n", `"''\n"`],
    ["'＝1", "''＝1"],
  ])('%j', (text, cell) => {
    expect(written(text)).toBe(cell);
    expect(read(text)).toBe(`'${text}`);
  });
});

test('any text is read back by taking one apostrophe from those that stand before a formula', () => {
  const text = fc.string({ unit: fc.constantFrom(...`''''=+-@＝ab, ;"\t\r\n\0\u00a0\ufeff`), maxLength: 8 });
  assertProperty(
    fc.property(text, (given) => {
      const cell = read(given);
      const [apostrophes = ''] = /^'*/.exec(cell) ?? [];
      const isMarked = /^([\t\r\n]|[\s\0\ufeff]*[=+\-@＝])/.test(cell.slice(apostrophes.length));
      expect([isMarked && apostrophes === '', isMarked ? cell.slice(1) : cell]).toEqual([false, given]);
    }),
  );
});

/** Every character of the categories Cc and Cf, and the white space of Unicode. */
function unseenCharacters(): readonly string[] {
  const all = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff);
  return all.map((code) => String.fromCodePoint(code)).filter((letter) => /[\p{Cc}\p{Cf}\p{White_Space}]/u.test(letter));
}

describe('a cell that holds what may divide cells is quoted', () => {
  test.each([
    ['a;b', '"a;b"'],
    [';=1+1', '";=1+1"'],
    ['a\tb', '"a\tb"'],
    ['a\t=1', '"a\t=1"'],
    ['a,b', '"a,b"'],
    ['a|b', 'a|b'],
  ])('%j', (text, cell) => {
    expect(written(text)).toBe(cell);
    expect(read(text)).toBe(text);
  });
});

describe('a BOM', () => {
  test('comes first in CSV where it is wanted', () => {
    const { header } = exportFormat('text/csv', { hasZones: true, hasBom: true });
    expect(header).toBe(`\ufeff${exportFormat('text/csv', { hasZones: true }).header}`);
  });
});

describe('no other cell does', () => {
  test.each([
    ['a=1', 'a=1'],
    ['1-1', '1-1'],
    ["'", "'"],
    ["'a=1", "'a=1"],
    ["' '=1", "' '=1"],
    [" '=1", " '=1"],
    ['"=1', '"""=1"'],
    ['a\n=1', '"a\n=1"'],
    [' ', ' '],
    [' a=1', ' a=1'],
    ['\0a=1', '\0a=1'],
    ['\u22121', '\u22121'],
    ['', '""'],
  ])('%j', (text, cell) => {
    expect(written(text)).toBe(cell);
    expect(read(text)).toBe(text);
  });
});

describe('the cell of a log', () => {
  const before = `1970-01-01T00:00:00.000Z,0,e,${','.repeat(BEFORE.length)}"",${','.repeat(BEHIND.length)}`;
  const cellOf = (log: string) => record('', log).slice(before.length, -2);

  test.each(['{}', '{ }', '{\t}', '{\r\n}', '{"a":"b"}', '{"a\\"":"é😀\\u0001","=1":[";",""]}'])('is that of its text: %j', (log) => {
    expect(cellOf(log)).toBe(csvCell(log));
  });

  test('is so for any object', () => {
    assertProperty(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), fc.nat(2), (object, indent) => {
        const log = JSON.stringify(object, null, indent);
        expect(cellOf(log)).toBe(csvCell(log));
      }),
    );
  });
});
