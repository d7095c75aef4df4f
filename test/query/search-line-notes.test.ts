import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../query/event-fields.ts';
import { parseSearchLine, searchLineOf } from '../../query/search-line.ts';
import { searchLineNotes } from '../../query/search-line-notes.ts';
import { matchesFilter } from '../oracle/match-event.ts';
import type { OracleEvent } from '../oracle/raw-event.ts';
import { assertProperty } from '../random/assert-property.ts';

const notesOf = (line: string): readonly string[] => searchLineNotes(line).map(({ note }) => note);

describe('a line that says otherwise than it looks is told of, with the spelling that may be meant', () => {
  test.each<[line: string, ...notes: string[]]>([
    ['a AND b', 'AND is searched as a text, which "AND" says, too; all words and filters have to match anyway, so leave it out'],
    ['a && b', '&& is searched as a text, which "&&" says, too; all words and filters have to match anyway, so leave it out'],
    ['country:DE and x', 'and is searched as a text, which "and" says, too; all words and filters have to match anyway, so leave it out'],
    [
      'a OR b',
      'OR is searched as a text, which "OR" says, too; a filter takes several values with commas, such as action:blocked,challenged',
    ],
    [
      'asn:1 || asn:2',
      '|| is searched as a text, which "||" says, too; a filter takes several values with commas, such as asn:1,2',
      'no event has both of asn:1 asn:2; asn:1,2 finds either',
    ],
    ['-asn:1 or -asn:2', 'or is searched as a text, which "or" says, too; a filter takes several values with commas, such as -asn:1,2'],
    ['NOT country:FR', 'NOT is searched as a text, which "NOT" says, too; a - before a filter excludes, such as -country:FR'],
    ['NOT a', 'NOT is searched as a text, which "NOT" says, too; a - before a filter excludes, such as -country:DE'],
    ['!country:DE', '!country:DE is searched as a text; a filter is -country:DE'],
    ['!x', '!x is searched as a text, with its !; only a filter excludes, such as -url:~x'],
    ['-x', '-x is searched as a text, with its -; only a filter excludes, such as -url:~x'],
    ['-!country:DE', '-!country:DE is searched as a text, with its -; -country:DE excludes'],
    ['\u2013country:DE', '\u2013country:DE is searched as a text, with its \u2013; -country:DE excludes'],
    ['\u2212ip:10.0.0.0/8', '\u2212ip:10.0.0.0/8 is searched as a text, with its \u2212; -ip:10.0.0.0/8 excludes'],
    ['+country:DE', '+country:DE is searched as a text, with its +; every filter has to match: country:DE'],
    ['(country:DE)', '(country:DE) is searched as a text, with its (; there are no brackets: country:DE is the filter'],
    ['country=DE', 'country=DE is searched as a text; a filter is country:DE'],
    ['Country==DE', 'Country==DE is searched as a text; a filter is Country:DE'],
    ['country!=DE', 'country!=DE is searched as a text; a filter is -country:DE'],
    ['-country=DE', '-country=DE is searched as a text; a filter is -country:DE'],
    ['url=~admin', 'url=~admin is searched as a text; a filter is url:~admin'],
    ['country = DE', 'country = DE is searched as a text; a filter is country:DE'],
    ['country =DE', 'country =DE is searched as a text; a filter is country:DE'],
    ['country\uff1aDE', 'country\uff1aDE is searched as a text; a filter is country:DE'],
    ['\u201csql injection\u201d', '\u201c is searched as a text; straight quotes keep a phrase together: "sql injection"'],
    ['ua:\u201ecurl 8\u201c', '\u201e is searched as a text; straight quotes keep a phrase together: ua:"curl 8"'],
    ['\u00absql injection\u00bb', '\u00ab is searched as a text; straight quotes keep a phrase together: "sql injection"'],
    ["'sql injection'", '\' is searched as a text; straight quotes keep a phrase together: "sql injection"'],
    ['\u2018a b\u2019', '\u2018 is searched as a text; straight quotes keep a phrase together: "a b"'],
    ['country:DE country:FR', 'no event has both of country:DE country:FR; country:DE,FR finds either'],
    ['url:/a x url:/b,/c', 'no event has both of url:/a url:/b,/c; url:/a,/b,/c finds either'],
    ['ip:10.0.0.0/8 ip:192.168.0.1', 'no event has both of ip:10.0.0.0/8 ip:192.168.0.1; ip:10.0.0.0/8,192.168.0.1 finds either'],
    ['country<>DE', 'country<>DE is searched as a text; a filter is -country:DE'],
    ['country \u2260 DE', 'country \u2260 DE is searched as a text; a filter is -country:DE'],
    ['country\ufe55DE', 'country\ufe55DE is searched as a text; a filter is country:DE'],
    ['country\u2236DE', 'country\u2236DE is searched as a text; a filter is country:DE'],
    ['country:DE country:U*', 'no event has both of country:DE country:U*; country:DE,U* finds either'],
    ['country:DE country:~XX', 'no event has both of country:DE country:~XX'],
    ['url:a* url:b*', 'no event has both of url:a* url:b*; url:a*,b* finds either'],
    ['url:*.PHP url:*.asp', 'no event has both of url:*.PHP url:*.asp; url:*.PHP,*.asp finds either'],
    ['country:DE -country:D*', 'no event is left by country:DE -country:D*: what is looked for is excluded'],
    ['asn:133 -asn:~AS13', 'no event is left by asn:133 -asn:~AS13: what is looked for is excluded'],
    ['-url:* url:x', 'no event is left by url:x -url:*: what is looked for is excluded'],
    ['url:/a* -url:/A*', 'no event is left by url:/a* -url:/A*: what is looked for is excluded'],
    ['country:!DE', 'country:!DE looks for !DE, with its signs; -country:DE has none of them'],
    ['-country:!DE', '-country:!DE looks for !DE, with its signs; country:DE has none of them'],
    ['country:=DE', 'country:=DE looks for =DE, with its signs; country:DE has none of them'],
    ['action:blocked|logged', 'action:blocked|logged looks for blocked|logged, with its signs; action:blocked,logged has none of them'],
    ['country:(DE)', 'country:(DE) looks for (DE), with its signs; country:DE has none of them'],
    ['ip:[::1]', 'ip:[::1] looks for [::1], with its signs; ip:::1 has none of them'],
    ['ip:1.2.3', '1.2.3 is no address; ip:10.0.0.0/8 is a network, and ip:10.0.* a wildcard'],
    ['ip:::1,1.2.3.4-1.2.3.9', '1.2.3.4-1.2.3.9 is no address; ip:10.0.0.0/8 is a network, and ip:10.0.* a wildcard'],
    ['country:DE -country:de,FR', 'no event is left by country:DE -country:de,FR: what is looked for is excluded'],
    ['ip:"10.1.0.*" ip:"10.2.0.*"', 'no event has both of ip:"10.1.0.*" ip:"10.2.0.*"; ip:"10.1.0.*","10.2.0.*" finds either'],
    ['ip:"10.1.0.*" ip:"un,known"', 'no event has both of ip:"10.1.0.*" ip:"un,known"; ip:"10.1.0.*","un,known" finds either'],
    ['ip:"10.1.0.*" -ip:10.0.0.0/8', 'no event is left by ip:"10.1.0.*" -ip:10.0.0.0/8: what is looked for is excluded'],
    ['ip:"1:2:3:4:*" -ip:"1:2:3:4::*"', 'no event is left by ip:"1:2:3:4:*" -ip:"1:2:3:4::*": what is looked for is excluded'],
    ['ip:10.1.0.0/16 -ip:10.0.0.0/8', 'no event is left by ip:10.1.0.0/16 -ip:10.0.0.0/8: what is looked for is excluded'],
    ['url:/a?ids=1,2', 'the comma in url:/a?ids=1,2 separates 2 values; url:"/a?ids=1,2" is one'],
    ['-url:/a?ids=1,2,3', 'the comma in -url:/a?ids=1,2,3 separates 3 values; -url:"/a?ids=1,2,3" is one'],
    ['url:~ids=1,2', 'the comma in url:~ids=1,2 separates 2 values; url:~"ids=1,2" is one'],
    ['url:/q,\\a', 'the comma in url:/q,\\a separates 2 values; url:"/q,\\\\a" is one'],
    ['url:/q,"",a', 'the comma in url:/q,"",a separates 3 values; url:"/q,\\"\\",a" is one'],
    ['url:/a?x=*,2', 'the comma in url:/a?x=*,2 separates 2 values; url:/a?x=*\\,2 is one'],
    ['ua:*(KHTML,like*', 'the comma in ua:*(KHTML,like* separates 2 values; ua:*(KHTML\\,like* is one'],
    ['ua:Mozilla/5.0,X', 'the comma in ua:Mozilla/5.0,X separates 2 values; ua:"Mozilla/5.0,X" is one'],
    ['C:\\temp', 'the \\ in C:\\temp is not searched; C:\\\\temp has it'],
    ['url:C:\\temp', 'the \\ in url:C:\\temp is not searched; url:C:\\\\temp has it'],
    ['ua:~\\x00', 'the \\ in ua:~\\x00 is not searched; ua:~\\\\x00 has it'],
    ['\\u001B[31m', 'the \\ in \\u001B[31m is not searched; \\\\u001B[31m has it'],
    ['\\u0041', 'the \\ in \\u0041 is not searched; \\\\u0041 has it'],
    ['a="b"', 'the quotes in a="b" are not searched; a=\\"b\\" has them'],
    ['"id":1', 'the quotes in "id":1 are not searched; url:~"\\"id\\":1" has them'],
    ['{"id":"\\n"}', 'the quotes and \\ in {"id":"\\n"} are not searched; {\\"id\\":\\"\\\\n\\"} has them'],
    ['url:href="x y"', 'the quotes in url:href="x y" are not searched; url:"href=\\"x y\\"" has them'],
    ['url:/?q="x"', 'the quotes in url:/?q="x" are not searched; url:/?q=\\"x\\" has them'],
  ])('%s', (line, ...notes) => {
    expect(notesOf(line)).toEqual(notes);
  });

  test.each([
    ['contry:DE', 'contry:DE', 'contry'],
    ['country:NL contry:DE', 'contry:DE', 'contry'],
    ['-contry:DE', '-contry:DE', 'contry'],
    ['http.host:x', 'http.host:x', 'http.host'],
    ['host:"a b"', 'host:a b', 'host'],
    ['host:', 'host:', 'host'],
    ['@timestamp:1', '@timestamp:1', '@timestamp'],
    ['_exists_:url', '_exists_:url', '_exists_'],
    ['pa\u00eds:DE', 'pa\u00eds:DE', 'pa\u00eds, with U+00ED in it'],
    ['\u0430ction:blocked', '\u0430ction:blocked', '\u0430ction, with U+0430 in it'],
    ['action\u200b:blocked', 'action\u200b:blocked', 'action\u200b, with U+200B in it'],
    ['\u200baction:blocked', '\u200baction:blocked', '\u200baction, with U+200B in it'],
  ])('%s: no field has that name', (line, term, name) => {
    const fields = DIMENSIONS.join(', ');
    expect(notesOf(line)).toContain(`${term} is searched as a text, because no field is called ${name}; the fields are ${fields}`);
  });
});

describe('nothing is told of', () => {
  test.each([
    ...['', 'login "sql injection"', 'rock and roll', 'this or that', "it's o'clock", 'and', '12:30', '::1', '2001:db8::1', '6\\"'],
    ...['ip:10.0.0.0/99', 'http://x/?a=country:NL', 'https://www.example.net/', 'a-b', '1-1', '-1', '--', 'x=1', 'a,b', '"AND"', '"OR"'],
    ...['country:DE -country:FR', 'country:DE country:de', 'asn:AS1 asn:1', 'url:~a url:~b', 'url:/a* url:/ab*', '-country:DE -country:FR'],
    ...[
      'ip:10.0.0.0/8 ip:10.1.0.0/16',
      'ip:::ffff:1.2.3.4 ip:1.2.3.4',
      'action:blocked,logged',
      'url:*/wp-*.php,*/.env',
      'url:/a,/b,http://c',
    ],
    ...['url:~login,admin', 'ua:"a b","c d"*', 'ip:"10.0.0.0"/8', 'url:"/a?ids=1,2"', 'url:C:\\\\temp', 'c:\\\\windows', '"country":NL'],
    ...[
      'country\\:DE',
      ...['url:"a","b"', 'url:"/?a","b"', 'country:D* country:*E', 'country:DE country:~d', 'asn:AS133 asn:13*', 'ip:10.* ip:10.0.0.0/8'],
      ...[
        'url:/a* -url:/a',
        'country:D* -country:DE',
        'ip:10.0.0.1 -ip:11.*',
        'url:(a)',
        'ua:a|b',
        'country:"!DE"',
        'ip:10.*',
        'ip:~1.2.3',
        'ip:10.1.0.*',
        'ip:10.1.0.* ip:"10.1.0.*"',
        'ip:"10.1.0.*" ip:10.0.0.0/8',
        'ip:"10.1.0.*" ip:"10.1.0.*"',
        'ip:"1:2:3:4:*" ip:"1:2:3:4::*"',
        'ip:10.1.0.7 -ip:"10.1.0.*"',
        'ip:"10.1.0.*" -ip:10.1.0.0/25',
      ],
      '\\u001b[31m',
      'ua:"a\\u0009b",c\\u202ed',
      'sql" "injection',
      'sql\\ injection',
      'ua:"a, b"',
      'ua:*"a,b"*',
      'ua:\\"x\\"',
      '"!x"',
      '"country=DE"',
      '"\u201cx\u201d"',
    ],
  ])('%s', (line) => {
    expect(parseSearchLine(line)).not.toHaveProperty('fault');
    expect(notesOf(line)).toEqual([]);
  });

  test('a line with a fault', () => {
    expect(notesOf('AND country:')).toEqual([]);
  });
});

test('at most five are told', () => {
  expect(notesOf(Array.from({ length: 40 }, (_, index) => `!x${index}`).join(' '))).toHaveLength(5);
});

const PIECES = [
  ...'"\\,*:~-/ \t!=()+&|\'',
  '\u201c',
  '\u201d',
  '\u2013',
  'AND',
  'OR',
  'NOT',
  'a',
  '=',
  '10.0.0.0/8',
  'DE',
  '\u0000',
  '\u001b',
  '😀',
  '\ud800',
];
const line = fc.array(fc.constantFrom(...PIECES, ...DIMENSIONS, ...DIMENSIONS.map((name) => `${name}:`)), { maxLength: 14 });

test('notes of any line are sentences of one line, and the line of a search as the program writes it loses no quote', () => {
  assertProperty(
    fc.property(line, (parts) => {
      const given = parts.join('');
      for (const { words, note } of searchLineNotes(given)) expect([words.length > 0, note.length > 0]).toEqual([true, true]);
      const read = parseSearchLine(given);
      const said = 'fault' in read ? null : searchLineOf(read);
      expect(notesOf(said ?? '').filter((note) => note.includes('not searched'))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test('where a line is said to find no event, no value of the field fulfils it', () => {
  const letters = ['', 'a', 'A', 'b'];
  const values = [...new Set(letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => one + two + three))))];
  const text = fc.array(fc.constantFrom(...'aAb*'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  const clause = fc
    .tuple(fc.constantFrom('', '-'), fc.constantFrom('', '~'), fc.array(text, { minLength: 1, maxLength: 2 }))
    .map(([sign, part, texts]) => [sign, part, texts.join(',')] as const);
  assertProperty(
    fc.property(fc.constantFrom('url', 'country'), fc.array(clause, { minLength: 2, maxLength: 3 }), (field, clauses) => {
      const given = clauses
        .map(([sign, part, texts]) => `${sign}${field}:${part}${part === '' ? texts : texts.replaceAll('*', 'b')}`)
        .join(' ');
      const read = parseSearchLine(given);
      if ('fault' in read || !notesOf(given).some((note) => note.startsWith('no event'))) return;
      const found = values.filter((value) => {
        const event: OracleEvent = { logId: '', timestamp: 0, zoneId: 1, fields: { [field]: value }, log: null };
        return read.filters.every((one) => matchesFilter(event, one)) && !read.exclude.some((one) => matchesFilter(event, one));
      });
      expect([given, found]).toEqual([given, []]);
    }),
    { numRuns: 1_000 },
  );
});

test('a pasted value that is not found as it is has a note with a spelling that finds it', () => {
  const pasted = fc.string({ unit: fc.constantFrom(...'ab/?="\\,<>{}[]:'), minLength: 1, maxLength: 10 });
  assertProperty(
    fc.property(pasted, (value) => {
      const read = parseSearchLine(`url:/${value}`);
      if ('fault' in read || read.filters[0]?.value[0] === `/${value}`) return;
      const told = notesOf(`url:/${value}`);
      // Two urls with a comma between, and quotes where one who means them writes them, look right.
      fc.pre(told.length > 0);
      const [, spelling = ''] = /; (url:.*) (?:has|is) (?:them|it|one)$/s.exec(told[0] ?? '') ?? [];
      // Where only a comma looks wrong, what is quoted or escaped on purpose beside it stays so.
      const oneValue = told[0]?.startsWith('the comma') ? read.filters[0]?.value.join(',') : undefined;
      const search = (text: string) => ({ query: '', filters: [{ field: 'url', op: 'eq', value: [text] }], exclude: [] });
      expect([search(`/${value}`), search(oneValue ?? `/${value}`)]).toContainEqual(parseSearchLine(spelling));
    }),
  );
});
