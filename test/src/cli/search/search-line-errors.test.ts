import { describe, expect, test } from 'vitest';
import { compileExport } from '../../../../query/request/compile-search.ts';
import { InvalidSearchError } from '../../../../query/request/request-errors.ts';
import { parseSearchLine, searchLinePlaces } from '../../../../query/search-line.ts';
import { caretLines, refusedRequest } from '../../../../src/cli/search/search-line-errors.ts';

describe('a caret stands under the place', () => {
  test.each<[what: string, line: string, position: number, lines: readonly string[]]>([
    ['at the beginning', 'ip:x', 0, ['  ip:x', '  ^']],
    ['behind the end', 'ip:', 3, ['  ip:', '     ^']],
    ['behind wide characters', 'ua:日本 ip:', 9, ['  ua:日本 ip:', '             ^']],
    ['behind what is shown as an escape', 'a\u001b ip:', 6, ['  a\\u001b ip:', '             ^']],
    [
      'in a long line',
      `${'x'.repeat(60)} ip: ${'y'.repeat(60)}`,
      64,
      [`  …${'x'.repeat(44)} ip: ${'y'.repeat(23)}…`, `  ${' '.repeat(49)}^`],
    ],
  ])('%s', (_what, line, position, lines) => {
    expect(caretLines(line, position)).toEqual(lines);
  });
});

/** What the command line shows for what the program says of a line. */
function shownFor(line: string, window: object = { from: 0, to: 1 }): readonly string[] {
  const search = parseSearchLine(line);
  try {
    compileExport(Buffer.from(JSON.stringify({ ...window, ...search })), { zones: 'all', nowMs: 0 });
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) throw error;
    const { message, below } = refusedRequest(error.errors, line, { from: '--last' });
    return [message, ...below];
  }
  return [];
}

describe('what the program refuses is shown at its place', () => {
  test.each<[what: string, line: string, lines: readonly string[]]>([
    ['nothing', 'a ip:10.0.0.0/8', []],
    [
      'a value among others',
      'a -ip:10.0.0.0/8,1.2.3.4/99 b',
      [
        'character 18: needs a prefix length of 0 to 32 in decimal digits, not "1.2.3.4/99"',
        '  a -ip:10.0.0.0/8,1.2.3.4/99 b',
        `  ${' '.repeat(17)}^`,
      ],
    ],
    [
      'a filter behind one that excludes',
      '-ip:1.2.3.4 ip:1.2.3.4/99',
      [
        'character 16: needs a prefix length of 0 to 32 in decimal digits, not "1.2.3.4/99"',
        '  -ip:1.2.3.4 ip:1.2.3.4/99',
        `  ${' '.repeat(15)}^`,
      ],
    ],
  ])('%s', (_what, line, lines) => {
    expect(shownFor(line)).toEqual(lines);
  });

  test('a flag is named, several errors are shown, and the line without a caret where it is too much as a whole', () => {
    const words = Array.from({ length: 129 }, (_, index) => `w${index}`).join(' ');
    expect(shownFor(`${words} ip:1.2.3.4/99`, { from: -1_000_000_000_000, to: 1 })).toEqual([
      expect.stringMatching(
        /^--last must be at least 1969-12-28T23:59:00\.000Z \(72 hours and 60 seconds ago\), not 1938-04-24T22:13:20\.000Z$/,
      ),
      expect.stringMatching(/^shieldlog: the search line must have at most 128 words of query/),
      expect.stringMatching(/^ {2}w0 /),
      expect.stringMatching(/^shieldlog: character 539: needs a prefix length/),
      expect.stringMatching(/^ {2}….* ip:1\.2\.3\.4\/99$/),
      expect.stringMatching(/^ +\^$/),
    ]);
  });

  test('of many errors the first ones are shown and the others counted', () => {
    const line = Array.from({ length: 8 }, () => 'ip:1.2.3.4/99').join(' ');
    const shown = shownFor(line);
    expect(shown.filter((text) => text.includes('^'))).toHaveLength(5);
    expect(shown.at(-1)).toBe('and 3 more');
  });
});

test('the places of clauses are those of their words, and of each value', () => {
  expect(searchLinePlaces(' a ua:~x,"y z" "ip:1" -country:NL IP:\\:1,*')).toEqual({
    filters: [
      { position: 3, values: [7, 9] },
      { position: 34, values: [37, 41] },
    ],
    exclude: [{ position: 22, values: [31] }],
  });
});
