import { describe, expect, test } from 'vitest';
import { DIMENSIONS, type Dimension } from '../../../query/event-fields.ts';
import type { Facet } from '../../../query/plan/search-result.ts';
import { parseSearchLine } from '../../../query/search-line.ts';
import {
  askedClause,
  completedLine,
  otherConditions,
  stillFitting,
  type TypedWord,
  typedWord,
  valueCompletions,
  wordCompletions,
} from '../../../web/search/completion.ts';
import { NO_SEARCH } from '../../../web/state/explorer-state.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';

/** What is typed in a line whose caret is at the `|`. */
function typedIn(text: string): TypedWord | null {
  const caret = text.indexOf('|');
  return typedWord(text.replace('|', ''), caret);
}

function facetOf(field: Dimension, ...values: readonly string[]): Facet {
  return {
    field,
    distinct: values.length,
    values: values.map((value, index) => ({ value, count: 9 - index, selected: null, spellings: 1 })),
  };
}

const NOTHING_KNOWN = { facets: [], ruleNames: new Map<string, string>(), areCounted: true };

const textsOf = (text: string, known = {}): readonly string[] => {
  const word = typedIn(text);
  return word === null ? [] : wordCompletions(word, null, { ...NOTHING_KNOWN, ...known }).map((one) => one.text);
};

describe('what is typed before the caret', () => {
  test.each<[line: string, field: Dimension | null, kept: string, text: string]>([
    ['coun|', null, '', 'coun'],
    ['-coun|', null, '-', 'coun'],
    ['login coun| -action:allowed', null, '', 'coun'],
    ['country:|', 'country', 'country:', ''],
    ['Country:n|', 'country', 'Country:', 'n'],
    ['-country:n|', 'country', '-country:', 'n'],
    ['country:NL,d|', 'country', 'country:NL,', 'd'],
    ['country:"N,L",d|', 'country', 'country:"N,L",', 'd'],
    ['url:~log|', 'url', 'url:', 'log'],
    ['ua:"Mozilla/5.0 (X|', 'ua', 'ua:', 'Mozilla/5.0 (X'],
    ['ua:"Mozilla/5.0 (X)"|', 'ua', 'ua:', 'Mozilla/5.0 (X)'],
    ['"sql inj|', null, '', 'sql inj'],
    ['url:a\\"b|', 'url', 'url:', 'a"b'],
    ['ja4:\\u202e|', 'ja4', 'ja4:', '\u202e'],
    ['http://exam|', null, '', 'http://exam'],
    ['|', null, '', ''],
    ['login |', null, '', ''],
  ])('in %s is completed', (line, field, kept, text) => {
    expect(typedIn(line)).toMatchObject({ field, kept, text });
  });

  test.each(['coun|try', 'country:N|L', 'url:*log|', 'url:~a,b|', 'url:a\\|', 'country:NL| x'.replace('| x', '|x')])(
    'in %s is left alone',
    (line) => {
      expect(typedIn(line)).toBeNull();
    },
  );
});

describe('the program is asked', () => {
  test.each<[line: string, clause: object | null]>([
    ['coun|', null],
    ['country:|', { field: 'country', op: 'wildcard', value: ['*'] }],
    ['-asn:AS64|', { field: 'asn', op: 'wildcard', value: ['AS64*'] }],
    ['ip:192.0.2.1|', { field: 'ip', op: 'wildcard', value: ['192.0.2.1*'] }],
    ['url:log|', { field: 'url', op: 'contains', value: ['log'] }],
    ['ua:|', { field: 'ua', op: 'wildcard', value: ['*'] }],
    ['ja4:~13|', { field: 'ja4', op: 'contains', value: ['13'] }],
    // A star that is quoted is no wildcard.
    ['ruleId:"a*b|', { field: 'ruleId', op: 'contains', value: ['a*b'] }],
    ['192.0.2.1|', { field: 'ip', op: 'eq', value: ['192.0.2.1'] }],
    ['-2001:db8::1|', { field: 'ip', op: 'eq', value: ['2001:db8::1'] }],
    ['192.0.2|', null],
    // More than a search takes.
    [`url:${'a'.repeat(1_025)}|`, null],
  ])('for %s', (line, clause) => {
    const word = typedIn(line);
    expect(word === null ? 'left alone' : askedClause(word)).toEqual(clause);
  });

  test('under the conditions that there are and those of the rest of the line', () => {
    const before = { query: 'login', filters: [], exclude: [] };
    const line = 'action:blocked country:N -asn:1';
    const word = typedWord(line, 24);
    expect(word && otherConditions(before, line, word, 24)).toEqual({
      query: 'login',
      filters: [{ field: 'action', op: 'eq', value: ['blocked'] }],
      exclude: [{ field: 'asn', op: 'eq', value: ['1'] }],
    });
    const broken = 'country:N ip:';
    const first = typedWord(broken, 9);
    expect(first && otherConditions(NO_SEARCH, broken, first, 9)).toBeNull();
  });
});

describe('a word', () => {
  test.each<[line: string, first: readonly string[]]>([
    ['u|', ['ua:', 'url:']],
    ['-RULE|', ['-ruleId:']],
    ['198.51.100.7|', ['ip:198.51.100.7', 'ip:198.51.100.0/24']],
    ['-198.51.100.7|', ['-ip:198.51.100.7', '-ip:198.51.100.0/24']],
    ['2001:DB8:a:b::1|', ['ip:2001:DB8:a:b::1', 'ip:2001:db8:a::/48']],
    ['::1|', ['ip:::1', 'ip:0:0:0::/48']],
    ['::ffff:192.0.2.1|', ['ip:::ffff:192.0.2.1', 'ip:192.0.2.0/24']],
    ['198.51.100|', []],
    ['198.51.100.256|', []],
  ])('%s becomes a field, or an address and its network', (line, first) => {
    expect(textsOf(line)).toEqual(first);
    for (const text of first.filter((one) => one.includes('ip:'))) expect(parseSearchLine(text)).not.toHaveProperty('fault');
  });

  test('of nothing is any of the fields, if somebody asks for them', () => {
    expect(textsOf('|')).toEqual(DIMENSIONS.map((field) => `${field}:`));
  });

  test('is found in the values of the page, in any case, and in the names of rules, the most frequent first', () => {
    const facets = [
      facetOf('ruleId', '', '942100', '941'),
      facetOf('url', '/blog', '/LOGin'),
      { ...facetOf('ua', '7'), field: 'shieldZoneId' as const },
    ];
    const ruleNames = new Map([
      ['941', 'XSS at the login'],
      ['999', 'Login flood'],
      ['942100', 'SQL injection'],
    ]);
    const word = typedIn('login|');
    const found = word && wordCompletions(word, null, { facets, ruleNames, areCounted: true });
    expect(found).toEqual([
      { text: 'url:/LOGin', count: 8 },
      { text: 'ruleId:941', count: 7, name: 'XSS at the login' },
      { text: 'ruleId:999', count: null, name: 'Login flood' },
    ]);
    expect(word && wordCompletions(word, null, { facets, ruleNames, areCounted: false }).map(({ count }) => count)).toEqual([
      null,
      null,
      null,
    ]);
    expect(textsOf('l|', { facets, ruleNames })).toEqual([]);
  });

  test('has at most eight', () => {
    const facets = [facetOf('url', ...Array.from({ length: 20 }, (_, index) => `/login/${index}`))];
    expect(textsOf('login|', { facets }).length).toBe(8);
  });
});

test('values that were counted for a shorter word stay as far as they fit the longer one', () => {
  const facet = facetOf('country', 'NL', 'NO', 'DN');
  const fitting = (line: string, of = facet) => {
    const word = typedIn(line);
    return word && stillFitting(of, word).values.map(({ value }) => value);
  };
  expect(fitting('country:n|')).toEqual(['NL', 'NO']);
  expect(fitting('country:~n|')).toEqual(['NL', 'NO', 'DN']);
});

describe('a value that is taken is read by the line as that value', () => {
  const odd = [
    ...HOSTILE_STRINGS.map(({ text }) => text).filter((text) => text !== '' && text.isWellFormed()),
    'two words',
    'a "quoted" one',
    'a:b',
    'ip:1.2.3.4',
    '~tilde',
    '-dash',
    'a,b',
    '*',
    '10.0.0.0/8',
    '\\u202e',
    '\u202egpj.php',
    'line\nend',
    'x'.repeat(65_536),
  ];

  test.each(['country', 'ip', 'url', 'ruleId'] as const)('of %s', (field) => {
    for (const [typed, before] of [
      [`${field}:`, []],
      [`-${field}:`, []],
      [`${field}:NL,`, ['NL']],
    ] as const) {
      const word = typedWord(typed, typed.length);
      for (const [index, { text }] of (word === null ? [] : valueCompletions(word, facetOf(field, ...odd))).entries()) {
        const { line, caret } = completedLine(typed, word as TypedWord, typed.length, text);
        expect(line).toBe(`${text} `);
        expect(caret).toBe(line.length);
        // A field of the page keeps no line ends, and obeys marks of direction.
        expect(line).not.toMatch(/[\p{Cc}\u202e]/u);
        const side = typed.startsWith('-') ? 'exclude' : 'filters';
        expect(parseSearchLine(line)).toMatchObject({ [side]: [{ field, value: [...before, odd[index]] }] });
      }
    }
  });

  test('stands before the rest of the line, a field without a blank behind it', () => {
    const word = typedIn('a coun| b') as TypedWord;
    expect(completedLine('a coun b', word, 6, 'country:')).toEqual({ line: 'a country: b', caret: 10 });
    expect(completedLine('a coun b', word, 6, 'country:NL')).toEqual({ line: 'a country:NL b', caret: 12 });
    expect(completedLine('a coun', word, 6, 'country:')).toEqual({ line: 'a country:', caret: 10 });
  });
});
