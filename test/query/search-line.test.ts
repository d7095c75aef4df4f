import { describe, expect, test } from 'vitest';
import { type LineClause, type LineSearch, parseSearchLine, searchLineOf } from '../../query/search-line.ts';

const clause = (field: LineClause['field'], op: LineClause['op'], ...value: string[]): LineClause => ({ field, op, value });
const search = (query: string, filters: LineClause[] = [], exclude: LineClause[] = []): LineSearch => ({ query, filters, exclude });

describe('a search line', () => {
  test.each<[what: string, line: string, LineSearch]>([
    ['nothing', '', search('')],
    ['blanks of every kind', ' \t\u00a0\u2003\u3000\ufeff', search('')],
    ['words', ' sql\u3000injection ', search('sql injection')],
    ['a phrase', '"sql injection" union', search('"sql injection" union')],
    ['a blank that is escaped', 'sql\\ injection', search('"sql injection"')],
    ['a quote within a word', 'sql" "injection', search('"sql injection"')],
    ['an empty phrase', '"" a', search('a')],
    ['a repeated term', 'a "a" b', search('a b')],
    ['a value', 'country:NL', search('', [clause('country', 'eq', 'NL')])],
    ['a field in another case', 'RULEID:942100 UA:curl', search('', [clause('ruleId', 'eq', '942100'), clause('ua', 'eq', 'curl')])],
    ['several values', 'action:blocked,challenged', search('', [clause('action', 'in', 'blocked', 'challenged')])],
    ['an excluded filter', 'x -country:NL,DE', search('x', [], [clause('country', 'in', 'NL', 'DE')])],
    ['several filters of one field', 'ua:~a ua:~b', search('', [clause('ua', 'contains', 'a'), clause('ua', 'contains', 'b')])],
    ['a wildcard', 'url:*/login*', search('', [clause('url', 'wildcard', '*/login*')])],
    ['a wildcard beside a value', 'url:*.php,/b', search('', [clause('url', 'wildcard', '*.php', '/b')])],
    ['a wildcard with a quoted part', 'ua:"a, b"*', search('', [clause('ua', 'wildcard', 'a, b*')])],
    ['a star that is quoted', 'url:"a*b"', search('', [clause('url', 'eq', 'a*b')])],
    ['a star that is escaped', 'url:a\\*b', search('', [clause('url', 'eq', 'a*b')])],
    ['a range', 'ip:10.0.0.0/8', search('', [clause('ip', 'cidr', '10.0.0.0/8')])],
    ['a range beside an address', 'ip:2001:db8::/32,::1', search('', [clause('ip', 'cidr', '2001:db8::/32', '::1')])],
    ['a range that is quoted', 'ip:"10.0.0.0/8"', search('', [clause('ip', 'eq', '10.0.0.0/8')])],
    ['a wildcard of an address', 'ip:192.0.2.*', search('', [clause('ip', 'wildcard', '192.0.2.*')])],
    ['a masked address', 'ip:"2001:db8:0:1::*",192.0.2."*"', search('', [clause('ip', 'in', '2001:db8:0:1::*', '192.0.2.*')])],
    ['a range of a field that has no addresses', 'url:/a/8', search('', [clause('url', 'eq', '/a/8')])],
    ['an address', '-ip:2001:db8::1', search('', [], [clause('ip', 'eq', '2001:db8::1')])],
    ['a part of a value', 'ua:~bot,"web crawler"', search('', [clause('ua', 'contains', 'bot', 'web crawler')])],
    ['a tilde that is quoted', 'url:"~a"', search('', [clause('url', 'eq', '~a')])],
    ['a tilde within', 'url:/~a', search('', [clause('url', 'eq', '/~a')])],
    ['a comma that is quoted', 'ua:"a,b"', search('', [clause('ua', 'eq', 'a,b')])],
    ['an empty value', 'country:""', search('', [clause('country', 'eq', '')])],
    ['an empty value beside others', 'country:"",NL', search('', [clause('country', 'in', '', 'NL')])],
    ['a URL', 'http://x/?a=country:NL', search('http://x/?a=country:NL')],
    ['an IPv6 address', '::1', search('::1')],
    ['a word with a colon that is no field', 'ruleName:x shieldZoneId:7', search('ruleName:x shieldZoneId:7')],
    ['a filter that is quoted', '"country:NL" -"ua:x"', search('country:NL -ua:x')],
    ['a filter whose field is quoted', '"country":NL country\\:DE ""ua:x', search('country:NL country:DE ua:x')],
    ['a minus without a filter', '-x - --country:NL', search('-x - --country:NL')],
    ['commas, stars and tildes in free text', 'a,b * ~c', search('a,b * ~c')],
    ['quotes that are searched', '6\\" a\\"b', search('6" a"b')],
    ['a leading quote', '\\"a b', search('b "a')],
    ['a backslash', 'c:\\\\windows "\\\\"', search('c:\\windows \\')],
  ])('%s: %s', (_what, line, expected) => {
    expect(parseSearchLine(line)).toEqual(expected);
    const again = searchLineOf(expected) ?? '(no line)';
    expect(parseSearchLine(again)).toEqual(expected);
  });

  test.each<[what: string, line: string, position: number, message: string]>([
    ['a quote that is never closed', 'a "b c', 2, 'this quote is never closed; \\" is a quote that is searched'],
    ['a backslash at the end', 'a b\\', 3, 'nothing follows the \\; \\\\ is one that is searched'],
    ['a backslash at the end of a quote', '"a\\', 2, 'nothing follows the \\; \\\\ is one that is searched'],
    ['a filter without a value', 'x country: y', 10, 'a value is missing here; country:"" is the empty one'],
    ['a missing value between commas', 'ua:a,,b', 5, 'a value is missing here; ua:"" is the empty one'],
    ['a missing value after a comma', 'ua:a,', 5, 'a value is missing here; ua:"" is the empty one'],
    ['an empty text to contain', 'ua:~', 4, 'a text is missing here: every value contains the empty one'],
    ['a quoted empty text to contain', 'ua:~a,""', 6, 'a text is missing here: every value contains the empty one'],
    ['a second tilde', 'ua:a,~b', 5, 'a ~ stands only once, right behind the colon; "~" is one that is searched'],
    ['a star in a text to contain', 'ua:~a*b', 5, 'a * behind ~ is no wildcard; "*" is one that is searched'],
    ['a range beside a wildcard', 'ip:10.*,10.0.0.0/8', 8, 'a range cannot stand beside a wildcard; make them two filters, or quote it'],
    ['a literal star beside a wildcard', 'url:a*,"b*"', 9, 'a literal * cannot stand beside a wildcard'],
    ['a term with a quote and a blank', 'x "a \\" b"', 2, 'a text with both a quote and a blank cannot be searched; leave one of them out'],
    [
      'a term with quotes around',
      '\\"a\\"',
      0,
      'a text that begins with a quote and has another one cannot be searched; leave the first one out',
    ],
    ['two terms with a leading quote', '\\"a \\"b', 4, 'only one text that begins with a quote can be searched; leave the quote out'],
  ])('%s is refused with its position: %s', (_what, line, position, message) => {
    expect(parseSearchLine(line)).toEqual({ position, fault: `character ${position + 1}: ${message}` });
  });
});

describe('the line of a search', () => {
  test.each<[what: string, LineSearch, line: string | null]>([
    ['in with one value is eq', search('', [clause('country', 'in', 'NL')]), 'country:NL'],
    ['eq with several values is in', search('', [], [clause('country', 'eq', 'NL', 'DE')]), '-country:NL,DE'],
    ['an address as a range', search('', [clause('ip', 'cidr', '10.1.2.3', '::1')]), 'ip:10.1.2.3/32,::1/128'],
    [
      'what is special is quoted',
      search('', [clause('url', 'eq', 'a b', 'a,b', 'a*', '~a', '', 'a"\\')]),
      'url:"a b","a,b","a*","~a","","a\\"\\\\"',
    ],
    ['free text comes first', search('"a b" country:NL', [clause('asn', 'eq', '1')]), '"a b" "country:NL" asn:1'],
    ['a wildcard without a star, where case is ignored', search('', [clause('action', 'wildcard', 'blocked')]), 'action:blocked'],
    ['a wildcard without a star, where case counts', search('', [clause('ua', 'wildcard', 'curl')]), null],
    ['an empty text to contain', search('', [clause('ua', 'contains', '')]), null],
    ['a clause without values', search('', [clause('ua', 'eq')]), null],
    ['a range of a field that has no addresses', search('', [clause('ua', 'cidr', '::/0')]), null],
  ])('%s', (_what, conditions, line) => {
    expect(searchLineOf(conditions)).toBe(line);
  });
});
