import { describe, expect, it } from 'vitest';
import { DIMENSIONS } from '../../../query/event-fields.ts';
import { compileSearch } from '../../../query/request/compile-search.ts';
import { InvalidSearchError } from '../../../query/request/request-errors.ts';
import { errorsOf, errorsWith, HOUR, NOW } from './compile-text.ts';

const PROPERTIES = 'from, to, query, filters, groupBy, buckets, page, pageSize';
const DIMENSION_NAMES = DIMENSIONS.join(', ');
const EARLIEST = NOW - 72 * HOUR - 60_000;
const INT64 = 'an integer from -9223372036854775808 to 9223372036854775807';

const clause = (fields: object) => ({ filters: [{ field: 'ip', op: 'eq', value: ['x'], ...fields }] });

describe('a search that is refused', () => {
  describe('because of its bytes', () => {
    it.each([
      ['a byte that begins nothing', [0x7b, 0xff, 0x7d], 1],
      ['half a character at the end', [0x22, 0xf0, 0x9f, 0xa6], 1],
      ['half a surrogate pair in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22], 1],
      ['an overlong slash', [0x22, 0x61, 0xc0, 0xaf, 0x22], 2],
    ])('names the offset of %s', (_, bytes, offset) => {
      expect(errorsOf(new Uint8Array(bytes))).toEqual([{ field: '$', message: `must be UTF-8; the byte at offset ${offset} is not` }]);
    });

    it.each([
      ['', 'must be JSON: expected a value at line 1, column 1 (offset 0), where the text ends'],
      ['{"from":1,}', 'must be JSON: expected a key in double quotes at line 1, column 11 (offset 10), where there is "}"'],
      [
        `${'['.repeat(100_000)}`,
        'must be JSON: more than 32 arrays and objects inside one another at line 1, column 33 (offset 32), where there is "["',
      ],
    ])('names the position where %.20s… is no JSON', (body, message) => {
      expect(errorsOf(body)).toEqual([{ field: '$', message }]);
    });

    it.each([
      ['null', 'null'],
      ['[]', 'an array'],
      ['"from"', '"from"'],
      ['12345678901234567890', '12345678901234567890'],
    ])('needs an object, not %s', (body, shown) => {
      expect(errorsOf(body)).toEqual([{ field: '$', message: `must be an object with the properties ${PROPERTIES}, not ${shown}` }]);
    });
  });

  describe('because of its window', () => {
    it.each([
      [
        'no times',
        '{}',
        [
          ['from', 'is required: Unix milliseconds, UTC'],
          ['to', 'is required: Unix milliseconds, UTC'],
        ],
      ],
      ['a null', `{"from":null,"to":${NOW}}`, [['from', `must be ${INT64}, not null`]]],
      ['a date', `{"from":"2026-09-21T00:00:00Z","to":${NOW}}`, [['from', `must be ${INT64}, not "2026-09-21T00:00:00Z"`]]],
      ['a fraction', `{"from":${NOW - HOUR}.5,"to":${NOW}}`, [['from', `must be ${INT64}, not ${NOW - HOUR}.5`]]],
      ['an integer past int64', `{"from":${NOW - HOUR},"to":9223372036854775808}`, [['to', `must be ${INT64}, not 9223372036854775808`]]],
      ['a huge exponent', `{"from":${NOW - HOUR},"to":1e999999999}`, [['to', `must be ${INT64}, not 1e999999999`]]],
      ['an empty window', `{"from":${NOW},"to":${NOW}}`, [['to', `must be greater than from (${NOW}), not ${NOW}`]]],
      ['a window backwards', `{"from":${NOW},"to":${NOW - 1}}`, [['to', `must be greater than from (${NOW}), not ${NOW - 1}`]]],
      [
        'a millisecond too early',
        `{"from":${EARLIEST - 1},"to":${NOW}}`,
        [['from', `must be at least ${EARLIEST} (72 hours and 60 seconds ago), not ${EARLIEST - 1}`]],
      ],
      [
        'a millisecond too late',
        `{"from":${NOW},"to":${NOW + 60_001}}`,
        [['to', `must be at most ${NOW + 60_000} (60 seconds from now), not ${NOW + 60_001}`]],
      ],
      [
        'integers that are one apart past 2^53',
        '{"from":9007199254740993,"to":9007199254740992}',
        [
          ['to', `must be at most ${NOW + 60_000} (60 seconds from now), not 9007199254740992`],
          ['to', 'must be greater than from (9007199254740993), not 9007199254740992'],
        ],
      ],
      [
        'integers that are the same number to JavaScript but are in order',
        '{"from":9007199254740992,"to":9007199254740993}',
        [['to', `must be at most ${NOW + 60_000} (60 seconds from now), not 9007199254740993`]],
      ],
    ])('such as %s', (_, body, errors) => {
      expect(errorsOf(body)).toEqual(errors.map(([field, message]) => ({ field, message })));
    });

    it('judges by whole milliseconds when the clock has fractions', () => {
      const body = new TextEncoder().encode(`{"from":${EARLIEST},"to":${NOW}}`);
      expect(compileSearch(body, { zoneId: 7, nowMs: NOW + 0.9 }).window.fromMs).toBe(EARLIEST);
    });
  });

  describe('because it asks for too much', () => {
    const values = (count: number) => ({ field: 'ua', op: 'eq', value: Array.from({ length: count }, () => 'x') });

    it.each<[string, object, string, string]>([
      ['101 clauses', { filters: Array.from({ length: 101 }, () => values(1)) }, 'filters', 'must have at most 100 elements, not 101'],
      ['1,001 alternatives', { filters: [values(1001)] }, 'filters[0].value', 'must have at most 1000 elements, not 1001'],
      [
        '5,001 alternatives in all',
        { filters: [...Array.from({ length: 5 }, () => values(1000)), values(1)] },
        'filters',
        'must have at most 5000 values in all its clauses together, not 5001',
      ],
      [
        '129 texts to look for',
        { query: 'two words', filters: [{ ...values(126), op: 'contains' }, { ...values(1), op: 'wildcard' }, values(1000)] },
        'filters',
        'must have at most 128 words of query and values of contains and wildcard together with those of query, not 129',
      ],
      [
        'a word of 1,025 bytes',
        { query: `short ${'x'.repeat(1025)}` },
        'query',
        `must have at most 1024 bytes in each word and phrase, not 1025: "${'x'.repeat(80)}…"`,
      ],
      ['a phrase of 513 letters of two bytes', { query: `"${'é'.repeat(513)}"` }, 'query', 'in each word and phrase, not 1026: "é'],
      [
        'a text of 1,025 bytes to contain',
        clause({ op: 'contains', value: ['x', `🦆${'x'.repeat(1021)}`] }),
        'filters[0].value[1]',
        `must have at most 1024 bytes, not 1025: "🦆${'x'.repeat(78)}…"`,
      ],
      [
        'a pattern of stars side by side',
        clause({ op: 'wildcard', value: ['*'.repeat(10_000)] }),
        'filters[0].value[0]',
        'must have at most 1024 bytes, not 10000: "***',
      ],
      [
        '16,385 bytes to look for',
        { filters: [{ ...clause({}).filters[0], op: 'wildcard', value: [...Array(16).fill('é'.repeat(512)), '*'] }] },
        'filters',
        'must have at most 16384 bytes in words of query and values of contains and wildcard together, not 16385',
      ],
      [
        '129 terms',
        { query: Array.from({ length: 129 }, (_, index) => `t${index}`).join(' ') },
        'query',
        'must have at most 128 words of query and values of contains and wildcard together, not 129',
      ],
      ['a query of 65,537 characters', { query: 'x'.padEnd(65_537) }, 'query', 'must have at most 65536 characters, not 65537'],
      [
        '257 stars in a wildcard',
        clause({ op: 'wildcard', value: ['a*'.repeat(257)] }),
        'filters[0].value[0]',
        'must have at most 256 stars with text between them, not 257',
      ],
    ])('such as %s', (_, fields, field, message) => {
      expect(errorsWith(fields)).toEqual([{ field, message: expect.stringContaining(message) }]);
    });
  });

  it('lists everything that is wrong at once, in the order of the fields', () => {
    const body = {
      to: 'now',
      query: 7,
      filters: [
        { field: 'IP', op: 'like', value: [1], not: true },
        { field: 'ip', op: 'cidr', value: ['10.0.0.0/8', 'x', 5] },
      ],
      groupBy: ['ip', 'ip', 'zone'],
      page: -1,
      pageSize: 1.5,
      extra: {},
    };
    expect(errorsOf(JSON.stringify(body)).map(({ field }) => field)).toEqual([
      'extra',
      'from',
      'to',
      'query',
      'filters[0].not',
      'filters[0].field',
      'filters[0].op',
      'filters[0].value[0]',
      'filters[1].value[2]',
      'groupBy[1]',
      'groupBy[2]',
      'page',
      'pageSize',
      'filters[1].value[1]',
    ]);
  });

  it('lists a hundred errors and counts the rest', () => {
    const errors = errorsWith(Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`p${index}`, 1])));
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual({ field: '$', message: 'has 50 more errors that are not listed' });
  });

  it('quotes at most 80 characters of a value, never half of one', () => {
    const [error] = errorsWith({ groupBy: [`${'x'.repeat(79)}🦆🦆`] });
    expect(error?.message).toBe(`must be one of ${DIMENSION_NAMES}, not "${'x'.repeat(79)}…"`);
    const [unknown] = errorsWith({ ['y'.repeat(1000)]: 1 });
    expect(unknown?.field).toBe(`["${'y'.repeat(80)}…"]`);
  });

  it('is an error whose message says it all in one line', () => {
    const error = new InvalidSearchError(errorsWith({ page: -1, query: 5 }));
    expect(error.message).toBe('query must be a string, not 5; page must be an integer from 0 to 2147483647, not -1');
  });
});
