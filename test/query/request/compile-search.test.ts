import { describe, expect, it } from 'vitest';
import { DIMENSIONS, FREE_TEXT_FIELDS } from '../../../query/event-fields.ts';
import { compileText, compileWith, HOUR, NOW } from './compile-text.ts';

const contains = (needle: string) => ({
  kind: 'any',
  of: FREE_TEXT_FIELDS.map((column) => ({ kind: 'contains', column, needle })),
});

describe('a search that is compiled', () => {
  it('has the zone, the window, no condition and the first fifty rows when nothing else is asked for', () => {
    expect(compileWith({})).toEqual({
      zones: [7],
      window: { fromMs: NOW - HOUR, toMs: NOW },
      where: { kind: 'everything' },
      page: { index: 0, size: 50 },
      output: { kind: 'rows' },
    });
  });

  it('takes null for every optional field as if it were absent', () => {
    const nulls = { query: null, filters: null, groupBy: null, buckets: null, page: null, pageSize: null };
    expect(compileWith(nulls)).toEqual(compileWith({}));
  });

  it('may begin with a byte order mark and have blanks around it', () => {
    expect(compileText(`\uFEFF \n{"from":${NOW - HOUR},"to":${NOW}}\t`)).toEqual(compileWith({}));
  });

  it('takes the last of a key given twice', () => {
    expect(compileText(`{"from":0,"to":${NOW},"from":${NOW - HOUR}}`)).toEqual(compileWith({}));
  });

  describe('window', () => {
    it.each([
      ['the longest one', NOW - 72 * HOUR - 60_000, NOW + 60_000],
      ['one millisecond', NOW - 1, NOW],
      ['the last minute of tolerance', NOW + 59_999, NOW + 60_000],
    ])('%s is allowed', (_, fromMs, toMs) => {
      expect(compileText(JSON.stringify({ from: fromMs, to: toMs })).window).toEqual({ fromMs, toMs });
    });

    it('may be written with a fraction of zero or an exponent', () => {
      expect(compileText(`{"from":${NOW - HOUR}.0,"to":179e10}`).window).toEqual({ fromMs: NOW - HOUR, toMs: NOW });
    });
  });

  describe('paging', () => {
    it.each([
      [{ pageSize: 0 }, 1],
      [{ pageSize: -5 }, 1],
      [{ pageSize: 1 }, 1],
      [{ pageSize: 500 }, 500],
      [{ pageSize: 501 }, 500],
      [{ pageSize: 2_147_483_647 }, 500],
      [{ pageSize: -2_147_483_648 }, 1],
    ])('%j is clamped to a page of %d', (fields, size) => {
      expect(compileWith(fields).page).toEqual({ index: 0, size });
    });

    it('keeps the last page there can be, whose offset is still an exact number', () => {
      const { index, size } = compileWith({ page: 2_147_483_647, pageSize: 500 }).page;
      expect({ index, size }).toEqual({ index: 2_147_483_647, size: 500 });
      expect(BigInt(index * size)).toBe(2_147_483_647n * 500n);
    });
  });

  describe('groups', () => {
    it('are made by the dimensions in their order', () => {
      expect(compileWith({ groupBy: ['country', 'action'] }).output).toEqual({ kind: 'groups', by: ['country', 'action'], buckets: 0 });
    });

    it('can be made by all nine dimensions at once', () => {
      expect(compileWith({ groupBy: DIMENSIONS }).output).toEqual({ kind: 'groups', by: DIMENSIONS, buckets: 0 });
    });

    it.each([
      [60, 60],
      [-1, 0],
      [500, 500],
      [501, 500],
      [2_147_483_647, 500],
    ])('%d buckets are clamped to %d', (asked, buckets) => {
      expect(compileWith({ groupBy: ['ip'], buckets: asked }).output).toEqual({ kind: 'groups', by: ['ip'], buckets });
    });

    it('are none for an empty list, and then buckets are ignored', () => {
      expect(compileWith({ groupBy: [], buckets: 60 }).output).toEqual({ kind: 'rows' });
    });
  });

  describe('query', () => {
    it.each(['', ' \t\n', '""', null])('%j is no condition', (query) => {
      expect(compileWith({ query }).where).toEqual({ kind: 'everything' });
    });

    it('looks for one term in the five text columns', () => {
      expect(compileWith({ query: ' 100%_\\ ' }).where).toEqual(contains('100%_\\'));
    });

    it('needs every term and phrase', () => {
      expect(compileWith({ query: 'curl "a b"' }).where).toEqual({ kind: 'all', of: [contains('curl'), contains('a b')] });
    });
  });

  describe('filters', () => {
    const where = (field: string, op: string, value: readonly string[]) => compileWith({ filters: [{ field, op, value }] }).where;

    it('are no condition when the list is empty', () => {
      expect(compileWith({ filters: [] }).where).toEqual({ kind: 'everything' });
    });

    it('are all needed, after the terms of the query', () => {
      const filters = [
        { field: 'country', op: 'eq', value: ['DE'] },
        { field: 'ua', op: 'contains', value: ['bot', 'curl'] },
      ];
      expect(compileWith({ query: 'x', filters }).where).toEqual({
        kind: 'all',
        of: [
          contains('x'),
          { kind: 'equals', column: 'country', values: ['DE'], folded: true },
          {
            kind: 'any',
            of: [
              { kind: 'contains', column: 'ua', needle: 'bot' },
              { kind: 'contains', column: 'ua', needle: 'curl' },
            ],
          },
        ],
      });
    });

    it.each(['feature', 'country', 'action'])('equality on %s ignores case', (column) => {
      expect(where(column, 'eq', ['WAF'])).toEqual({ kind: 'equals', column, values: ['WAF'], folded: true });
    });

    it.each(['ruleId', 'ja4', 'ua', 'url'])('equality on %s is exact', (column) => {
      expect(where(column, 'in', ['a', 'B', 'a', ''])).toEqual({ kind: 'equals', column, values: ['a', 'B', ''], folded: false });
    });

    it('equality on asn drops a leading AS and counts each number once', () => {
      expect(where('asn', 'in', ['AS13335', '13335', 'as015169', 'cloud'])).toEqual({
        kind: 'equals',
        column: 'asn',
        values: ['13335', '15169', 'cloud'],
        folded: false,
      });
    });

    it('equality on ip compares addresses, and as text what is none', () => {
      const ipv4 = 0xffff_0102_0304n;
      expect(where('ip', 'in', ['::ffff:1.2.3.4', '1.2.3.4', 'unknown', '::1', '01.2.3.4'])).toEqual({
        kind: 'any',
        of: [
          {
            kind: 'addressIn',
            ranges: [
              { first: ipv4, last: ipv4 },
              { first: 1n, last: 1n },
            ],
          },
          { kind: 'equals', column: 'ip', values: ['unknown', '01.2.3.4'], folded: false },
        ],
      });
    });

    it.each([
      ['1.2.3.4', { kind: 'addressIn', ranges: [{ first: 0xffff_0102_0304n, last: 0xffff_0102_0304n }] }],
      ['unknown', { kind: 'equals', column: 'ip', values: ['unknown'], folded: false }],
    ])('equality on ip with %s alone needs no alternative', (value, predicate) => {
      expect(where('ip', 'eq', [value])).toEqual(predicate);
    });

    const one = (address: bigint) => ({ first: address, last: address });
    const masked = { kind: 'wildcard', column: 'ip', parts: ['', '*'] };
    const without = (...ranges: object[]) => ({
      kind: 'all',
      of: [
        { kind: 'addressIn', ranges },
        { kind: 'not', of: masked },
      ],
    });

    it('equality on ip compares masked addresses by their networks, and the first address of one is none', () => {
      const [v4, v6] = [0xffff_0102_0300n, 0x20010db8_0000_0001n << 64n];
      expect(where('ip', 'eq', ['1.2.3.*'])).toEqual({ kind: 'all', of: [{ kind: 'addressIn', ranges: [one(v4)] }, masked] });
      expect(where('ip', 'eq', ['1.2.3.0'])).toEqual(without(one(v4)));
      const texts = ['1.2.3.4', '2001:db8:0:1::', '2001:db8:0:1:*', '1.2.3.*', '2001:DB8:0:1::*', '1.2.*'];
      expect(where('ip', 'in', texts)).toEqual({
        kind: 'any',
        of: [
          { kind: 'addressIn', ranges: [one(v4 + 4n)] },
          without(one(v6)),
          { kind: 'all', of: [{ kind: 'addressIn', ranges: [one(v6), one(v4)] }, masked] },
          { kind: 'equals', column: 'ip', values: ['1.2.*'], folded: false },
        ],
      });
    });

    it.each([
      ['1.2.3.0/24', false],
      ['1.2.3.77/23', false],
      ['0.0.0.0/0', false],
      ['::ffff:1.2.3.0/120', false],
      ['::ffff:1.2.3.0/96', false],
      ['1.2.3.0/25', true],
      ['1.2.3.0/32', true],
      ['1.2.3.5/31', false],
      ['1.2.3.128/25', false],
      ['::ffff:1.2.3.0/121', true],
      ['2001:db8::/64', false],
      ['2001:db8::/48', false],
      ['::/0', false],
      ['::/64', false],
      ['::/65', true],
      ['::/80', true],
      ['::ffff:0:0/95', false],
      ['2001:db8::/65', true],
      ['2001:db8::1/128', false],
      ['2001:db8::/128', true],
    ])('cidr %s leaves masked addresses out by a condition of its own: %s', (value, leavesOut) => {
      expect(where('ip', 'cidr', [value])).toMatchObject({ kind: leavesOut ? 'all' : 'addressIn' });
    });

    it('cidr of two halves of a network does not find it, and of both with the network it does', () => {
      const [first, second] = [
        { first: 0xffff_0102_0300n, last: 0xffff_0102_037fn },
        { first: 0xffff_0102_0380n, last: 0xffff_0102_03ffn },
      ];
      const whole = { first: first.first, last: second.last };
      expect(where('ip', 'cidr', ['1.2.3.0/25', '1.2.3.128/25'])).toEqual({
        kind: 'any',
        of: [{ kind: 'addressIn', ranges: [second] }, without(first)],
      });
      expect(where('ip', 'cidr', ['1.2.3.0/25', '1.2.3.0/24'])).toEqual({
        kind: 'any',
        of: [{ kind: 'addressIn', ranges: [whole] }, without(first)],
      });
    });

    it('cidr turns into ranges of numbers', () => {
      expect(where('ip', 'cidr', ['10.1.2.3/8', '2001:db8::2/127'])).toEqual({
        kind: 'addressIn',
        ranges: [
          { first: 0xffff_0a00_0000n, last: 0xffff_0aff_ffffn },
          { first: (0x20010db8n << 96n) | 2n, last: (0x20010db8n << 96n) | 3n },
        ],
      });
    });

    it.each([
      ['a*b', ['a', 'b']],
      ['*', ['', '']],
      ['***', ['', '']],
      ['*.php', ['', '.php']],
      ['/wp-*', ['/wp-', '']],
      ['**a***b**', ['', 'a', 'b', '']],
      ['100%_\\', ['100%_\\']],
      ['', ['']],
    ])('wildcard %j has the literal parts %j', (pattern, parts) => {
      expect(where('url', 'wildcard', [pattern])).toEqual({ kind: 'wildcard', column: 'url', parts });
    });

    it.each(DIMENSIONS.filter((name) => name !== 'asn'))('contains and wildcard work on %s, its text as it is', (column) => {
      expect(where(column, 'contains', ['AS1'])).toEqual({ kind: 'contains', column, needle: 'AS1' });
      expect(where(column, 'wildcard', ['AS1*'])).toEqual({ kind: 'wildcard', column, parts: ['AS1', ''] });
    });

    it.each([
      ['AS1', '1'],
      ['as133', '133'],
      ['AS', 'AS'],
      ['0133', '0133'],
    ])('contains and wildcard look for the asn %s as %s', (text, needle) => {
      expect(where('asn', 'contains', [text])).toEqual({ kind: 'contains', column: 'asn', needle });
      expect(where('asn', 'wildcard', [`${text}*`])).toEqual({ kind: 'wildcard', column: 'asn', parts: [needle, ''] });
      expect(where('asn', 'wildcard', [`*${text}`])).toEqual({ kind: 'wildcard', column: 'asn', parts: ['', text] });
    });

    it('two spellings of a part of an asn are one', () => {
      expect(where('asn', 'contains', ['AS133', '133', 'as133'])).toEqual({ kind: 'contains', column: 'asn', needle: '133' });
    });
  });

  describe('limits', () => {
    const clause = (values: number) => ({ field: 'ua', op: 'eq', value: Array.from({ length: values }, (_, index) => `ua ${index}`) });

    it('takes 100 clauses', () => {
      expect(compileWith({ filters: Array.from({ length: 100 }, () => clause(1)) }).where).toMatchObject({ kind: 'all' });
    });

    it('takes 1,000 values in a clause and 5,000 in all of them', () => {
      expect(compileWith({ filters: Array.from({ length: 5 }, () => clause(1000)) }).where).toMatchObject({ kind: 'all' });
    });

    it('takes 128 terms', () => {
      const query = Array.from({ length: 128 }, (_, index) => `t${index}`).join(' ');
      expect(compileWith({ query }).where).toMatchObject({ kind: 'all', of: { length: 128 } });
    });

    it('takes 256 stars in a wildcard, and any number of them side by side', () => {
      const value = ['a*'.repeat(256), '*'.repeat(1024)];
      expect(compileWith({ filters: [{ field: 'url', op: 'wildcard', value }] }).where).toMatchObject({
        of: [{ parts: { length: 257 } }, { parts: ['', ''] }],
      });
    });

    it('takes 128 texts to look for, words among them, of which those that are repeated count once', () => {
      const value = Array.from({ length: 126 }, (_, index) => `${index}`);
      const where = compileWith({ query: 'two words '.repeat(100), filters: [{ field: 'url', op: 'contains', value }] }).where;
      expect(where).toMatchObject({ of: [{}, {}, { of: { length: 126 } }] });
    });

    it('takes 1,024 bytes in each of them, and 16,384 in all', () => {
      const word = 'é'.repeat(512);
      const value = Array.from({ length: 15 }, (_, index) => `${String(index).padStart(2, '0')}${'x'.repeat(1022)}`);
      const where = compileWith({ query: `"${word}"`, filters: [{ field: 'url', op: 'wildcard', value }] }).where;
      expect(where).toMatchObject({ of: [{ of: { length: FREE_TEXT_FIELDS.length } }, { of: { length: 15 } }] });
    });

    it('takes a query of 65,536 characters', () => {
      expect(compileWith({ query: 'x'.padStart(65_536) }).where).toMatchObject({ kind: 'any' });
    });

    it.each([
      ['url', 'x'.repeat(65_537), 'x'.repeat(65_536)],
      ['url', 'x'.repeat(700_000), 'x'.repeat(65_536)],
      ['feature', `xx${'é'.repeat(32_768)}`, `xx${'é'.repeat(32_767)}`],
      ['feature', `x${'é'.repeat(32_768)}`, `x${'é'.repeat(32_767)}`],
      ['ua', `xxx${'🦆'.repeat(20_000)}`, `xxx${'🦆'.repeat(16_383)}`],
      ['ip', '1'.repeat(65_540), '1'.repeat(65_536)],
      ['asn', `AS00${'1'.repeat(65_540)}`, '1'.repeat(65_536)],
    ])('cuts a value of eq and in as a stored %s is cut', (column, value, wanted) => {
      for (const op of ['eq', 'in']) {
        const { where } = compileWith({ filters: [{ field: column, op, value: [value, wanted] }] });
        expect(where).toMatchObject({ kind: 'equals', column, values: [wanted] });
      }
    });
  });
});
