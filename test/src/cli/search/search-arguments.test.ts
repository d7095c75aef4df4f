import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/cli/command.ts';
import { parseSearchArguments } from '../../../../src/cli/search/search-arguments.ts';

const parse = (...args: string[]) => parseSearchArguments(args, ['zone', 'last'], ['json']);

describe('the arguments that are no flags are one search line', () => {
  test.each<[what: string, args: readonly string[], line: string]>([
    ['none', [], ''],
    ['words', ['login', 'admin'], 'login admin'],
    ['filters, some of which exclude', ['action:blocked', '-country:DE', 'url:*/wp-*.php'], 'action:blocked -country:DE url:*/wp-*.php'],
    ['what the shell kept together', ['sql injection', 'ip:10.0.0.0/8'], '"sql injection" ip:10.0.0.0/8'],
    ['a phrase with other blanks', ['a\tb'], '"a\tb"'],
    ['a whole line', ['action:blocked -country:DE'], 'action:blocked -country:DE'],
    ['a line that begins with a word', ['login action:blocked'], 'login action:blocked'],
    ['a line with quotes of its own', ['action:blocked "sql injection"'], 'action:blocked "sql injection"'],
    ['a value with quotes of its own', ['ua:"Mozilla 5.0"', 'x'], 'ua:"Mozilla 5.0" x'],
    ['an escaped blank', ['sql\\ injection'], 'sql\\ injection'],
    ['blanks around a word', [' login '], ' login '],
    ['an empty argument', ['', 'a'], 'a'],
    ['a minus alone', ['-', 'a'], '- a'],
    ['a word that is the value of no flag', ['-x', '--json', 'y'], '-x y'],
    ['what stands behind --', ['a', '--', '--zone', '-last', 'b c'], 'a --zone -last "b c"'],
  ])('%s: %j', (_what, args, line) => {
    expect(parse(...args).line).toBe(line);
  });
});

test('flags and switches may stand anywhere, and a value may begin with a minus', () => {
  const { flags, switches, line } = parse('a', '--zone', '-7', '--json', 'b', '--last=1h');
  expect([flags, [...switches], line]).toEqual([{ zone: '-7', last: '1h' }, ['json'], 'a b']);
});

describe('is wrong usage', () => {
  test.each<[args: readonly string[], message: string]>([
    [['--zome', '7'], "Unknown option '--zome'; did you mean --zone?"],
    [['--zone'], "Option '--zone <value>' argument missing"],
    [['--json=yes'], "Option '--json' does not take an argument"],
    [['-last', '1h'], `'-last' would be a word of the search; allowed: the flag --last, or '"-last"' for the text`],
    [
      ['ua:Mozilla 5.0'],
      `'ua:Mozilla 5.0' can be read in two ways; allowed: 'ua:"Mozilla 5.0"' for a value with blanks, or an argument for each word`,
    ],
    [['-ua:~a  b'], `'-ua:~a  b' can be read in two ways; allowed: '-ua:~"a  b"' for a value with blanks, or an argument for each word`],
  ])('%j', (args, message) => {
    expect(() => parse(...args)).toThrow(new UsageError(message));
  });
});
