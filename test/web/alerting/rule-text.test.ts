import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AlertRule } from '../../../alerts/rule.ts';
import { readRule } from '../../../alerts/rule-file.ts';
import { DIMENSIONS, GROUP_DIMENSIONS } from '../../../query/event-fields.ts';
import { FILTER_OP_NAMES } from '../../../query/filter-ops.ts';
import type { Predicate } from '../../../query/plan/search-plan.ts';
import { compileConditions } from '../../../query/request/compile-search.ts';
import { InvalidSearchError } from '../../../query/request/request-errors.ts';
import { type LineClause, type LineSearch, parseSearchLine } from '../../../query/search-line.ts';
import { RULE_NAME, type RuleDraft, ruleText, suggestedName } from '../../../web/alerting/rule-text.ts';
import { NO_SEARCH } from '../../../web/state/explorer-state.ts';
import { anyText, hostileText } from '../../property/value-pools.ts';
import { assertProperty } from '../../random/assert-property.ts';

const draftOf = (line: string, own: Partial<RuleDraft> = {}): RuleDraft => {
  const search = parseSearchLine(line) as LineSearch;
  return { name: suggestedName(search), zones: 'all', search, by: [], atLeast: 120, windowMinutes: 10, ...own };
};

describe('the file of a rule', () => {
  test('has the search as its line', () => {
    expect(ruleText(draftOf('url:~login -action:allowed', { zones: [1, 7], by: ['ip', 'ua'] }))).toBe(
      `name: 'url-login-not-action-allowed'
zones: [1, 7]
search: 'url:~login -action:allowed'
by: [ip, ua]
kind: count
at_least: 120
window: 10m
`,
    );
  });

  test.each([
    ['nothing', '', ''],
    ['quotes', `"it's" ua:"a \\"b\\""`, `search: 'it''s ua:"a \\"b\\""'\n`],
    ['a line end and a mark of direction', 'ua:"\\u000a\\u202eb"', 'search: "ua:\\"\\n\\u202eb\\""\n'],
  ])('has %s of a search line in quotes', (_what, line, searched) => {
    expect(ruleText(draftOf(line, { name: 'a', zones: [7] }))).toBe(
      `name: 'a'\nzones: 7\n${searched}kind: count\nat_least: 120\nwindow: 10m\n`,
    );
  });

  test('has the members of a search that no line says', () => {
    const filters = [{ field: 'url', op: 'wildcard', value: ["it's", '/a'] }] as const;
    const text = ruleText({ ...draftOf('', { name: 'a' }), search: { query: 'two words', filters, exclude: [] } });
    expect(text).toContain(`search:\n  query: 'two words'\n  filters:\n    - { field: url, op: wildcard, value: ['it''s', '/a'] }\n`);
  });
});

/** What means something in YAML or in a search line. */
const PIECES = [
  ...["'", '"', '\\', ': ', ' #', '- ', '? ', '&a', '*', '!x', '|', '>', '%', '@', '`', ', ', '~', 'null', 'true', '1e3', '\\u202e'],
  ...['[', ']', '{', '}', '[[[[[[[[[[[[', '{{{{{{{{{{{{', '\n', '\r\n', '\t', ' ', '\u0000', '\u001b', '\u0085', '\u2028', '\u202e'],
  ...['\ufeff', '\u007f', '\ud800', '\udc00', '😀', '...', '---', 'url:', '/8', '198.51.100.0/24'],
];
const text = fc.oneof(
  { arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join('')), weight: 5 },
  { arbitrary: hostileText, weight: 1 },
  { arbitrary: anyText, weight: 1 },
);
const range = fc.constantFrom('198.51.100.0/24', '2001:db8::/32', '192.0.2.7', '::1');
const clause: fc.Arbitrary<LineClause> = fc.constantFrom(...FILTER_OP_NAMES).chain((op) =>
  fc.record({
    field: op === 'cidr' ? fc.constant('ip' as const) : fc.constantFrom(...DIMENSIONS),
    op: fc.constant(op),
    value: fc.array(op === 'cidr' ? range : text, { minLength: 1, maxLength: 30 }),
  }),
);
const draft: fc.Arbitrary<RuleDraft> = fc.record({
  name: fc.constantFrom('null', 'a', '1e3', 'true', 'No', 'x'.repeat(64)),
  zones: fc.oneof(
    fc.constant('all' as const),
    fc.uniqueArray(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 5 }).map((zones) => {
      return zones.toSorted((one, other) => one - other);
    }),
  ),
  search: fc.record({
    query: text.map((one) => one.replaceAll('"', '')),
    filters: fc.array(clause, { maxLength: 3 }),
    exclude: fc.array(clause, { maxLength: 2 }),
  }),
  by: fc.uniqueArray(fc.constantFrom(...GROUP_DIMENSIONS), { maxLength: 3 }),
  atLeast: fc.integer({ min: 1, max: 1_000_000_000 }),
  windowMinutes: fc.constantFrom(1, 5, 10, 60, 1_440),
});

/** What the program makes of the same conditions in a request; null where it refuses them. */
function predicateOf(search: LineSearch): Predicate | null {
  try {
    return compileConditions(Buffer.from(JSON.stringify(search)));
  } catch (error) {
    if (!(error instanceof InvalidSearchError)) throw error;
    return null;
  }
}

test('every search that the page can ask makes a file that is read as a rule of the same events, zones and groups', () => {
  let read = 0;
  assertProperty(
    fc.property(draft, (drawn) => {
      const where = predicateOf(drawn.search);
      fc.pre(where !== null);
      const rule: AlertRule = readRule(ruleText(drawn));
      const { name, zones, by, atLeast, windowMinutes } = drawn;
      expect({ ...rule, zones: [rule.zones].flat() }).toMatchObject({
        ...{ name, zones: [zones].flat(), where, by, windowMs: windowMinutes * 60_000, quietMs: 30 * 60_000 },
        kind: { kind: 'count', atLeast },
      });
      read += 1;
    }),
    { numRuns: 500 },
  );
  expect(read).toBeGreaterThan(100);
});

test('a name is suggested that a rule may have', () => {
  assertProperty(
    fc.property(draft, ({ search }) => {
      expect(suggestedName(search)).toMatch(RULE_NAME);
    }),
  );
  expect(suggestedName(NO_SEARCH)).toBe('every-event');
});
