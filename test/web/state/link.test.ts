import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DIMENSIONS, GROUP_DIMENSIONS } from '../../../query/event-fields.ts';
import { queryOfTerms, termFault } from '../../../query/query-terms.ts';
import { DEFAULT_STATE, type ExplorerState } from '../../../web/state/explorer-state.ts';
import { linkOf, readLink } from '../../../web/state/link.ts';
import { OFFERED_COLUMNS } from '../../../web/state/offered-columns.ts';
import { questionOf } from '../../../web/state/question.ts';
import { assertProperty } from '../../random/assert-property.ts';

const time = fc.integer({ min: 0, max: 4e12 });
const text = fc.string({ unit: fc.constantFrom(...'ab,:*~-/"\\ %&=#+ä\n0') });

const stretch = fc
  .tuple(time, time)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

const clause = fc.record({
  field: fc.constantFrom(...DIMENSIONS),
  op: fc.constantFrom('eq', 'contains', 'wildcard', 'cidr', 'in'),
  value: fc.array(text, { minLength: 1, maxLength: 3 }),
});

const terms = fc
  .array(
    text.filter((one) => one !== ''),
    { maxLength: 3 },
  )
  .filter((all) => all.every((one, index) => termFault(one, all.slice(0, index)) === null));

/** Every state that the page can be in. */
const state: fc.Arbitrary<ExplorerState> = fc.record({
  zones: fc.oneof(
    fc.constant('all' as const),
    fc.uniqueArray(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { minLength: 1 }).map((zones) => zones.toSorted((a, b) => a - b)),
  ),
  range: fc.oneof(
    fc.integer({ min: 1, max: 72 * 60 }).map((minutes) => ({ kind: 'last' as const, minutes })),
    stretch.map((between) => ({ kind: 'between' as const, ...between })),
  ),
  search: fc.record({
    query: terms.map(queryOfTerms),
    filters: fc.array(clause, { maxLength: 3 }),
    exclude: fc.array(clause, { maxLength: 2 }),
  }),
  by: fc.option(fc.constantFrom(...GROUP_DIMENSIONS)),
  groupBy: fc.uniqueArray(fc.constantFrom(...GROUP_DIMENSIONS), { maxLength: 4 }),
  columns: fc.option(fc.uniqueArray(fc.constantFrom(...OFFERED_COLUMNS), { minLength: 1 })),
  comparison: fc.option(
    fc.oneof(
      stretch.map((between) => ({ kind: 'time' as const, ...between })),
      fc.record({ kind: fc.constant('value' as const), field: fc.constantFrom(...DIMENSIONS), value: text }),
      fc.constant({ kind: 'before' as const }),
      fc.constantFrom('country:NL', 'ip:198.51.100.0/24 -action:allowed "a b"', '=&#+ä').map((line) => ({ kind: 'line' as const, line })),
    ),
  ),
  event: fc.option(fc.record({ zone: fc.integer(), timestamp: time, logId: text.filter((one) => one !== '') })),
  isLive: fc.boolean(),
  isRefreshing: fc.boolean(),
  clock: fc.constantFrom('local', 'utc'),
});

describe('a link', () => {
  test('and the state that it is of say the same, whatever is in it', () => {
    assertProperty(
      fc.property(state, (one) => {
        const link = linkOf(one).toString();
        const read = readLink(link);
        expect(read.ignored).toEqual([]);
        expect(linkOf(read.state).toString()).toBe(link);
        const { search: _read, ...rest } = read.state;
        const { search: _written, ...others } = one;
        expect(rest).toEqual(others);
      }),
      { numRuns: 500 },
    );
  });

  test('of the state at first is empty', () => {
    expect(linkOf(DEFAULT_STATE).toString()).toBe('');
    expect(readLink('')).toEqual({ state: DEFAULT_STATE, ignored: [] });
  });

  test.each([
    ['zone=1,7&last=90m&q=country:NL+-action:allowed', { zones: [1, 7], range: { kind: 'last', minutes: 90 } }],
    ['zone=7,1,7', { zones: [1, 7] }],
    ['from=2026-11-24T10:00Z&to=2026-11-24T11:00Z', { range: { kind: 'between', from: 1795514400000, to: 1795518000000 } }],
    ['by=none&group=ip,asn&clock=utc', { by: null, groupBy: ['ip', 'asn'], clock: 'utc' }],
    ['columns=url,time', { columns: ['url', 'time'] }],
    ['compare=asn:64510', { comparison: { kind: 'value', field: 'asn', value: '64510' } }],
    ['compare=ip:198.51.100.0/24', { comparison: { kind: 'value', field: 'ip', value: '198.51.100.0/24' } }],
    ['compare=asn:64510%20country:NL', { comparison: { kind: 'value', field: 'asn', value: '64510 country:NL' } }],
    ['compare=before', { comparison: { kind: 'before' } }],
    ['compare-with=ip:198.51.100.0/24+curl', { comparison: { kind: 'line', line: 'ip:198.51.100.0/24 curl' } }],
    ['event=7/1795514400000/a/b', { event: { zone: 7, timestamp: 1795514400000, logId: 'a/b' } }],
  ])('%s is read', (link, expected) => {
    const { state: read, ignored } = readLink(link);
    expect(ignored).toEqual([]);
    expect(read).toMatchObject(expected);
  });

  test.each<[string, Partial<ExplorerState>, readonly string[]]>([
    ['zone=1&zone=7', { zones: [1] }, ['zone=7']],
    ['zone=x&zone=7', {}, ['zone=x', 'zone=7']],
    [
      'last=1h&from=2026-11-24T10:00Z&to=2026-11-24T11:00Z',
      { range: { kind: 'last', minutes: 60 } },
      ['from=2026-11-24T10:00Z', 'to=2026-11-24T11:00Z'],
    ],
    ['q=a&search={"query":"b"}', { search: { query: 'a', filters: [], exclude: [] } }, ['search={"query":"b"}']],
    ['compare-with=%20&compare=asn:1', { comparison: { kind: 'value', field: 'asn', value: '1' } }, ['compare-with= ']],
    ['compare=asn:1&compare-with=curl', { comparison: { kind: 'value', field: 'asn', value: '1' } }, ['compare-with=curl']],
    ['compare-with=country:', {}, ['compare-with=country:']],
    ['q=100%&by=%zz', { search: { query: '100%', filters: [], exclude: [] } }, ['by=%zz']],
    ['?q=%EF%BF%BD&&=', { search: { query: '\uFFFD', filters: [], exclude: [] } }, ['=']],
  ])('that says something twice, or is badly written, is read as far as it says something: %s', (link, expected, ignored) => {
    expect(readLink(link)).toEqual({ state: { ...DEFAULT_STATE, ...expected }, ignored });
  });

  test('of anything at all is read to a state that a link can hold', () => {
    const value = fc.oneof(
      text,
      fc.constantFrom('on', 'all', '7', '-1,7', '72h', 'asn:1', 'ip,asn', 'none', '7/1/a', 'country:NL', '%E4%', '"'),
      fc.json(),
    );
    const time = fc.constantFrom('2026-11-24T10:00Z', '2026-02-31T10:00Z', '2026-11-24', '1', '2026-11-24T99:00Z', '');
    const clause = fc.record({
      field: fc.constantFrom('ip', 'url', 'x', 1),
      op: fc.constantFrom('eq', 'cidr', 'x'),
      value: fc.oneof(fc.array(text), text),
    });
    const search = fc.record({ query: fc.oneof(text, fc.integer()), filters: fc.oneof(fc.array(clause), text) }, { requiredKeys: [] });
    const name = fc.constantFrom(
      ...[
        'zone',
        'last',
        'q',
        'by',
        'group',
        'columns',
        'compare',
        'compare-with',
        'event',
        'live',
        'refresh',
        'clock',
        'more',
        '',
        'search',
      ],
    );
    const parameter = fc.oneof(
      fc.tuple(name, value),
      fc.tuple(fc.constantFrom('from', 'to'), time),
      fc.tuple(
        fc.constant('compare'),
        fc.tuple(time, time).map((both) => both.join('/')),
      ),
      fc.tuple(
        fc.constant('search'),
        search.map((one) => JSON.stringify(one)),
      ),
    );
    const raw = parameter.map(([name, said]) => `${name}=${said}`);
    const encoded = parameter.map((one) => new URLSearchParams([one]).toString());
    assertProperty(
      fc.property(fc.array(fc.oneof(raw, encoded), { maxLength: 8 }), (parts) => {
        const { state: read } = readLink(parts.join('&'));
        const link = linkOf(read).toString();
        const again = readLink(link);
        expect(again.ignored).toEqual([]);
        expect(linkOf(again.state).toString()).toBe(link);
        expect(() => questionOf(read, Date.UTC(2026, 10, 24))).not.toThrow();
        const told = readLink(parts.join('&')).ignored.length;
        expect(told).toBeLessThanOrEqual([...new URLSearchParams(parts.join('&'))].length);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['zone=seven', ['zone=seven']],
    ['zone=2147483648', ['zone=2147483648']],
    ['last=73h', ['last=73h']],
    ['from=2026-11-24T10:00Z', ['from=2026-11-24T10:00Z']],
    ['from=b&to=a', ['from=b', 'to=a']],
    ['q="', ['q="']],
    ['search={', ['search={']],
    ['group=ip,ip', ['group=ip,ip']],
    ['columns=ip,size', ['columns=ip,size']],
    ['compare=1/2/3', ['compare=1/2/3']],
    ['event=7', ['event=7']],
    ['event=9999999999/1795514400000/a', ['event=9999999999/1795514400000/a']],
    ['from=2026-02-31T10:00Z&to=2026-03-04T10:00Z', ['from=2026-02-31T10:00Z', 'to=2026-03-04T10:00Z']],
    ['from=1&to=2', ['from=1', 'to=2']],
    ['from=2026-11-24T10:00&to=2026-11-24T11:00', ['from=2026-11-24T10:00', 'to=2026-11-24T11:00']],
    ['compare=2026-02-30T10:00Z/2026-03-04T10:00Z', ['compare=2026-02-30T10:00Z/2026-03-04T10:00Z']],
    [`compare=url:${'a'.repeat(65_537)}`, [`compare=url:${'a'.repeat(68)}…`]],
    ['q=%E4', ['q=\uFFFD']],
    ['search={"filters":[{"field":"ip","op":"like","value":["a"]}]}', ['search={"filters":[{"field":"ip","op":"like","value":["a"]}]}']],
    [`nothing=${'a'.repeat(100)}`, [`nothing=${'a'.repeat(72)}…`]],
    ['accessKey=secret', ['accessKey']],
    ['__proto__=1&constructor=2', ['__proto__=1', 'constructor=2']],
  ])('says nothing by %s, which is told, and a key is not shown', (link, ignored) => {
    expect(readLink(link)).toEqual({ state: DEFAULT_STATE, ignored });
  });
});
