import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../../query/event-fields.ts';
import { searchLineNotes } from '../../../query/request/search-line-notes.ts';
import { parseSearchLine, searchLineOf } from '../../../query/search-line.ts';
import { matchesFilter } from '../../oracle/match-event.ts';
import type { OracleEvent } from '../../oracle/raw-event.ts';
import { assertProperty } from '../../random/assert-property.ts';

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
    ['url:/q,\\a', 'the \\ in url:/q,\\a is not searched; url:"/q,\\\\a" has it'],
    ['url:/q,"",a', 'the quotes in url:/q,"",a are not searched; url:"/q,\\"\\",a" has them'],
    ['log\u200bin', 'log\u200bin has the invisible character U+200B in it; login has not'],
    ['"log\u00adin x"', '"log\u00adin x" has the invisible character U+00AD in it; "login x" has not'],
    ['\u200b', '\u200b has the invisible character U+200B in it'],
    ['country:DE\u200e', 'country:DE\u200e has the invisible character U+200E in it; country:DE has not'],
    ['ip:192.0.2.1\u2060', 'ip:192.0.2.1\u2060 has the invisible character U+2060 in it; ip:192.0.2.1 has not'],
    ['a\ufe0fb', 'a\ufe0fb has the invisible character U+FE0F in it; ab has not'],
    ['a\u{e0041}', 'a\u{e0041} has the invisible character U+E0041 in it; a has not'],
    ['x\u0000', 'x\u0000 has the invisible character U+0000 in it; x has not'],
    ['action=blocked\u3164', 'action=blocked\u3164 has the invisible character U+3164 in it; action=blocked has not'],
    ['ip:10.0.0.0/8 ip:11.0.0.0/8', 'no event has both of ip:10.0.0.0/8 ip:11.0.0.0/8; ip:10.0.0.0/8,11.0.0.0/8 finds either'],
    [
      'ip:10.0.0.0/8 -ip:10.0.0.0/9,10.128.0.0/9',
      'no event is left by ip:10.0.0.0/8 -ip:10.0.0.0/9,10.128.0.0/9: what is looked for is excluded',
    ],
    ['ip:10.0.0.0/8 -ip:*', 'no event is left by ip:10.0.0.0/8 -ip:*: what is looked for is excluded'],
    ['url:a*b -url:~a -url:x', 'no event is left by url:a*b -url:~a -url:x: what is looked for is excluded'],
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
    ...['', 'login "sql injection"', 'rock and roll', 'this or that', "it's o'clock", 'and', '12:30', '6\\"'],
    ...[
      '"192.0.2.1"',
      '192.0.2.1:port',
      '1.2.3:443',
      '[x]:1',
      '1.2.3',
      '10.0.0.0/99',
      'a[.]',
      '[.]b',
      'a[0]b',
      'hxxp',
      'x.hxxp.y',
      'FR',
      'NL',
    ],
    ...[
      '\u2764\ufe0f',
      '\u2764\ufe0f\u200d\ud83d\udd25',
      '\ud83d\udc69\u200d\ud83d\udcbb',
      '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
      '"a\tb"',
      'a\u00a0b',
    ],
    ...['ua:curl', 'url:/login', 'blocked', 'WAF', 'AS64510', 'url:/a?ids=1,2', 'ua:Mozilla/5.0,X', 'url:~ids=1,2', 'url:/a?x=*,2'],
    ...[
      'ip:10.0.0.0/8 -ip:10.0.0.0/9',
      'ip:10.0.0.0/8 -ip:10.*',
      'url:a*b -url:~ab',
      'url:a*b url:*c*b',
      'ip:0.0.0.0/0 ip:255.255.255.255',
    ],
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

describe('where nothing is found, a word that may be why is told of', () => {
  test.each<[line: string, ...notes: string[]]>([
    ['größe', 'größe may stand in a url as gr%C3%B6%C3%9Fe'],
    ['"größe 1"', '"größe 1" may stand in a url as "gr%C3%B6%C3%9Fe 1"'],
    ['url:~größe,\u4f60\u597d', 'url:~größe,\u4f60\u597d may stand in a url as url:~gr%C3%B6%C3%9Fe,%E4%BD%A0%E5%A5%BD'],
    ['ua:größe', 'ua:größe finds whole values alone; ua:~größe finds those that contain it'],
    ['ua:curl', 'ua:curl finds whole values alone; ua:~curl finds those that contain it'],
    ['url:/login,"a b"', 'url:/login,"a b" finds whole values alone; url:~/login,"a b" finds those that contain it'],
    ['blocked', 'blocked is searched as a text, which is not looked for in action; action:blocked is'],
    ['x Challenged', 'Challenged is searched as a text, which is not looked for in action; action:Challenged is'],
    ['rate-limit', 'rate-limit is searched as a text, which is not looked for in feature; feature:rate-limit is'],
    ['AS64510', 'AS64510 is searched as a text, which is not looked for in asn; asn:AS64510 is'],
    ['as64510 waf', ...['asn:as64510', 'feature:waf'].map(shown)],
    ['contry:DE', ...notesOf('contry:DE')],
    ...[
      '-ua:curl',
      'ua:curl*',
      'ua:~curl',
      'country:DE',
      'ua:""',
      '"blocked"',
      '"AS64510"',
      '64510',
      'asset',
      'FR',
      'login',
      '-url:/a',
      '',
    ].map((line) => [line] as [string]),
  ])('%s', (line, ...notes) => {
    expect(searchLineNotes(line, 0).map(({ note }) => note)).toEqual(notes);
    for (const total of [undefined, 1, 1_000_000]) expect(searchLineNotes(line, total)).toEqual(searchLineNotes(line));
  });
});

function shown(filter: string): string {
  const [field = '', word = ''] = filter.split(':');
  return `${word} is searched as a text, which is not looked for in ${field}; ${filter} is`;
}

test('what an invisible character is told of finds without it, and no other note has one', () => {
  const units = fc.constantFrom('a', 'B', '.', '\u200b', '\u2060', '\u00ad', '\ufe0f', '\u0001', '\u{e0041}');
  assertProperty(
    fc.property(fc.string({ unit: units, minLength: 1, maxLength: 6 }), (word) => {
      const plain = word.replaceAll(/[^aB.]/gu, '');
      const [note] = notesOf(word);
      const told = plain === '' ? ' in it' : ` in it; ${plain} has not`;
      expect([plain === word, note === undefined || note.endsWith(told)]).toEqual([note === undefined, true]);
    }),
  );
});

test('at most five are told', () => {
  expect(notesOf(Array.from({ length: 40 }, (_, index) => `!x${index}`).join(' '))).toHaveLength(5);
});

test('what is too much for a search is not tried against itself', () => {
  const values = (letter: string, count: number) => `url:${Array.from({ length: count }, (_, index) => `${letter}${index}*`).join()}`;
  const told = [64, 65].map((count) => notesOf(`${values('a', count)} ${values('b', count)}`));
  expect(told).toEqual([[expect.stringMatching(/^no event has both of url:/)], []]);
  expect(notesOf(`${values('a', 3_000)} ${values('b', 3_000)}`)).toEqual([]);
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

test('of networks it is said exactly where no address is in two, or is left by those that are excluded', () => {
  const range = fc.tuple(fc.nat(7), fc.integer({ min: 29, max: 32 })).map(([host, prefix]) => `10.0.0.${host}/${prefix}`);
  const ranges = fc.array(range, { minLength: 1, maxLength: 3 }).map((texts) => texts.join(','));
  const addresses = Array.from({ length: 8 }, (_, host) => `10.0.0.${host}`);
  assertProperty(
    fc.property(fc.constantFrom('', '-'), ranges, ranges, (sign, one, other) => {
      const given = `ip:${one} ${sign}ip:${other}`;
      const read = parseSearchLine(given);
      if ('fault' in read) throw new Error(read.fault);
      const isFound = (ip: string): boolean => {
        const event: OracleEvent = { logId: '', timestamp: 0, zoneId: 1, fields: { ip }, log: null };
        return read.filters.every((clause) => matchesFilter(event, clause)) && !read.exclude.some((clause) => matchesFilter(event, clause));
      };
      expect([given, notesOf(given).some((note) => note.startsWith('no event'))]).toEqual([given, !addresses.some(isFound)]);
    }),
  );
});

test('a pasted value that is not found as it is has a note with a spelling that finds it', () => {
  const pasted = fc.string({ unit: fc.constantFrom(...'ab/?="\\<>{}[]:'), minLength: 1, maxLength: 10 });
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
