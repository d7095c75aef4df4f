import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { csvRow } from '../../../src/export/export-format.ts';

const row = (ua: string) => csvRow({ zoneId: 1, logId: 'e', timestamp: 0, logJson: '{}', fields: { ua } });

/** The cell of the user agent as it stands in the record. */
function written(ua: string): string {
  const [, before = '', after = ''] = /^([^,]*,0,e,,,,,,).*?(,,,,,\{\}\r\n)$/s.exec(row(ua)) ?? [];
  return row(ua).slice(before.length, -after.length);
}

/** Returns the user agent as a CSV parser reads it. */
const read = (ua: string): string => (parse(row(ua), { record_delimiter: '\r\n' }) as readonly string[][])[0]?.[8] ?? '';

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
    ['\t', "'\t"],
    ['\tx', "'\tx"],
    ['\t=1', "'\t=1"],
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
  ])('%j', (text, cell) => {
    expect(written(text)).toBe(cell);
    expect(read(text)).toBe(`'${text}`);
  });
});

describe('no other cell does', () => {
  test.each([
    ['a=1', 'a=1'],
    ['1-1', '1-1'],
    ["'=1", "'=1"],
    ['"=1', '"""=1"'],
    ['a\t=1', 'a\t=1'],
    ['a\n=1', '"a\n=1"'],
    [' ', ' '],
    [' a=1', ' a=1'],
    ['', '""'],
  ])('%j', (text, cell) => {
    expect(written(text)).toBe(cell);
    expect(read(text)).toBe(text);
  });
});
