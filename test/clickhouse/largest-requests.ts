import { DIMENSIONS, GROUP_DIMENSIONS } from '../../query/event-fields.ts';
import { MAX_FACET_VALUES, MAX_PER_ANSWER, SEARCH_LIMITS } from '../../query/search-limits.ts';
import { GOLDEN_NOW } from '../golden/golden-case.ts';

/** A request of the explorer that is as large as docs/limits.md allows in one way. */
export interface LargestRequest {
  readonly name: string;
  readonly zones: readonly number[] | 'all';
  readonly body: object;
}

const { clauses, alternatives, allAlternatives, searchedTexts, starRuns } = SEARCH_LIMITS;

const times = <T>(count: number, make: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => make(nth));

const clause = (field: string, op: string, value: readonly string[]) => ({ field, op, value });

/** A clause for each dimension and as many alternatives as all clauses may have together. */
const equalClauses = (field: (nth: number) => string) =>
  times(clauses - 1, (nth) =>
    clause(
      field(nth),
      'eq',
      times(allAlternatives / clauses, (value) => `/a?${nth}-${value}`),
    ),
  );

const textual = DIMENSIONS.filter((field) => field !== 'ip');

/** Parts of the explorer's question that go over all events once more. */
const EVERYTHING = {
  selection: { filters: [clause('ua', 'eq', ['a'])] },
  histogram: { buckets: MAX_PER_ANSWER, by: 'url' },
  facets: GROUP_DIMENSIONS.map((field) => ({ field, limit: MAX_FACET_VALUES, order: 'difference' })),
};

const PAGE = { from: 1_789_900_000_000, to: GOLDEN_NOW, pageSize: MAX_PER_ANSWER };

/** More zones than fit into a path. */
const MANY_ZONES = times(5_000, (nth) => nth + 1);

function request(name: string, body: object, zones: LargestRequest['zones'] = [1]): LargestRequest {
  return { name, zones, body: { ...PAGE, ...body } };
}

export const LARGEST_REQUESTS: readonly LargestRequest[] = [
  request('clauses about many texts', { filters: equalClauses((nth) => textual[nth % textual.length] as string), ...EVERYTHING }),
  request('clauses about urls', { exclude: equalClauses(() => 'url'), ...EVERYTHING }),
  request('urls in clauses of their own', { filters: times(clauses, (nth) => clause('url', 'eq', [`/a?${nth}`])) }),
  request('texts in urls', {
    filters: [
      clause(
        'url',
        'contains',
        times(searchedTexts, (nth) => `x${nth}`),
      ),
    ],
    ...EVERYTHING,
  }),
  request('wildcards on urls', {
    filters: times(searchedTexts / 2, (nth) => nth)
      .slice(0, clauses)
      .map((nth) => clause('url', 'wildcard', [`a*b${nth}*c*d*e`, `*f${nth}*g*`])),
  }),
  request('the most stars', { filters: [clause('ua', 'wildcard', ['a*'.repeat(starRuns)])] }),
  request('terms', {
    query: times(searchedTexts, (nth) => `t${nth}`).join(' '),
    groupBy: ['url', 'ua', 'ip'],
    buckets: MAX_PER_ANSWER,
    ...EVERYTHING,
  }),
  request('terms and texts in urls', {
    query: times(searchedTexts / 2, (nth) => `t${nth}`).join(' '),
    filters: times(searchedTexts / 2, (nth) => clause('url', 'contains', [`x${nth}`])),
    ...EVERYTHING,
  }),
  request('address ranges', {
    filters: times(allAlternatives / alternatives, (block) =>
      clause(
        'ip',
        'cidr',
        times(alternatives, (nth) => `10.${block}.${nth >> 8}.${nth & 255}/32`),
      ),
    ),
    groupBy: ['ip'],
  }),
  request('address ranges of IPv6 that are excluded', {
    exclude: [
      clause(
        'ip',
        'cidr',
        times(alternatives, (nth) => `2001:db8:${nth.toString(16)}::1/128`),
      ),
    ],
  }),
  request('zones', { groupBy: ['shieldZoneId'], ...EVERYTHING }, MANY_ZONES),
  request('selection', {
    ...EVERYTHING,
    selection: { filters: times(searchedTexts / 2, (nth) => clause('url', 'contains', [`x${nth}`, `y${nth}`])) },
    groupBy: ['url', 'ua'],
  }),
];
