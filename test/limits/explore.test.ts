import { afterAll, beforeAll } from 'vitest';
import { GROUP_DIMENSIONS } from '../../query/event-fields.ts';
import {
  DEFAULT_FACET_VALUES,
  MAX_ACTIVE_RULES,
  MAX_BUCKET_WIDTH_MS,
  MAX_COMBINED,
  MAX_FACET_VALUES,
  MAX_HISTOGRAM_SERIES,
  MAX_PER_ANSWER,
  SEARCH_LIMITS,
} from '../../query/search-limits.ts';
import { SEARCH_BODY_BYTES } from '../../src/http/request-body.ts';
import { type Answer, ask, eventLine, ingest, lastHour, type RunningApp, startApp } from '../src/running-app.ts';
import { bytes, count, describeLimits, outcomeOf } from './limit-table.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  const rules = Array.from({ length: MAX_ACTIVE_RULES + 1 }, (_, index) => `r${index}`);
  await ingest(app, rules.map((ruleId) => eventLine({ logId: ruleId, shieldZoneId: 8, ruleId })).join(''));
  await ingest(app, Array.from({ length: MAX_PER_ANSWER + 1 }, (_, index) => eventLine({ logId: `e${index}`, asn: index })).join(''));
});

afterAll(() => app.stop());

async function explored(body: string): Promise<Answer> {
  return ask(app, '/shield/event-logs/7/explore', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

const asked = async (rest: Readonly<Record<string, unknown>>): Promise<string> => outcomeOf(await explored(lastHour(rest)));

const times = <Item>(length: number, item: Item): Item[] => Array.from({ length }, () => item);

/** So many in parts of at most `most`. */
function partsOf(all: number, most: number): number[] {
  return Array.from({ length: Math.ceil(all / most) }, (_, part) => Math.min(most, all - part * most));
}

/** Asks with a quarter of the clauses in each list. */
async function askedInAll(
  clauses: readonly { readonly op: string; readonly value: readonly string[] }[],
  { query, selected: word }: { readonly query: string | null; readonly selected: string | null } = { query: null, selected: null },
): Promise<string> {
  const named = clauses.map((clause) => ({ field: 'url', ...clause }));
  const [filters = [], exclude = [], selected = [], others = []] = [0, 1, 2, 3].map((list) => named.filter((_, at) => at % 4 === list));
  return asked({ query, filters, exclude, selection: { query: word, filters: selected, exclude: others } });
}

/** What the answer has where `most` are wanted, of more that there are. */
const outOf = (found: number, most: number): string => (found === most ? 'ok' : `taken as ${found}`);

describeLimits('Explorer', import.meta.filename, {
  'bytes of the body': { is: bytes(SEARCH_BODY_BYTES), ask: async (size) => outcomeOf(await explored(lastHour().padEnd(size))) },
  'clauses of all four lists': {
    is: count(SEARCH_LIMITS.clauses),
    ask: (size) => askedInAll(times(size, { op: 'eq', value: ['x'] })),
  },
  'values of all of them': {
    is: count(SEARCH_LIMITS.allAlternatives),
    ask: (size) => askedInAll(partsOf(size, 500).map((part) => ({ op: 'in', value: times(part, 'x') }))),
  },
  'words and phrases of both `query` and values of all of them for `contains` and `wildcard`': {
    is: count(SEARCH_LIMITS.searchedTexts),
    ask: (size) =>
      askedInAll(
        partsOf(size - 2, 20).map((part, at) => ({ op: at % 2 === 0 ? 'contains' : 'wildcard', value: times(part, 'x') })),
        { query: 'two', selected: 'words' },
      ),
  },
  'bytes of all of these': {
    is: bytes(SEARCH_LIMITS.allSearchedBytes),
    ask: (size) =>
      askedInAll(
        partsOf(size - 3, SEARCH_LIMITS.searchedTextBytes).map((part) => ({ op: 'wildcard', value: ['x'.repeat(part)] })),
        { query: 'b', selected: 'é' },
      ),
  },
  '`pageSize`': {
    is: count(MAX_PER_ANSWER),
    ask: async (pageSize) => outOf((await explored(lastHour({ pageSize }))).body.rows.length, pageSize),
  },
  'buckets of the histogram': { is: count(MAX_PER_ANSWER), ask: (buckets) => asked({ histogram: { buckets } }) },
  'buckets of a `width`': {
    is: count(MAX_PER_ANSWER),
    ask: async (buckets) => {
      const to = Math.floor(Date.now() / 60_000) * 60_000;
      const body = JSON.stringify({ from: to - buckets * 60_000, to, pageSize: 0, histogram: { width: 60_000 } });
      return outcomeOf(await explored(body));
    },
  },
  'milliseconds of `width`': { is: count(MAX_BUCKET_WIDTH_MS), ask: (width) => asked({ histogram: { width } }) },
  'values of `by` with a series': {
    is: count(MAX_HISTOGRAM_SERIES),
    ask: async (values) => {
      const { body } = await explored(
        lastHour({
          filters: [{ field: 'asn', op: 'in', value: Array.from({ length: values }, (_, asn) => String(asn)) }],
          histogram: { buckets: 1, by: 'asn' },
        }),
      );
      return outOf(body.histogram.series.length, values);
    },
  },
  facets: {
    is: count(GROUP_DIMENSIONS.length),
    ask: (size) => asked({ facets: Array.from({ length: size }, (_, at) => ({ field: GROUP_DIMENSIONS[at % GROUP_DIMENSIONS.length] })) }),
  },
  '`limit` of a facet': { is: count(MAX_FACET_VALUES), ask: (limit) => asked({ facets: [{ field: 'asn', limit }] }) },
  'values of a facet without `limit`': {
    is: count(DEFAULT_FACET_VALUES),
    ask: async (values) => {
      const filters = [{ field: 'asn', op: 'in', value: Array.from({ length: values }, (_, asn) => String(asn)) }];
      return outOf((await explored(lastHour({ filters, facets: [{ field: 'asn' }] }))).body.facets[0].values.length, values);
    },
  },
  'pairs of `combinations`': {
    is: count(MAX_COMBINED),
    ask: (size) => {
      const combinations = Array.from({ length: size }, (_, value) => ({ field: 'asn', value: `${value}` }));
      return asked({ selection: { query: '' }, combinations });
    },
  },
  'rules of a list': {
    is: count(MAX_ACTIVE_RULES),
    ask: async (rules) => {
      const { from, to } = JSON.parse(lastHour());
      const listed = (await ask(app, `/shield/event-logs/8/rules?from=${from}&to=${to}`)).body.rules.length;
      return rules <= listed ? 'ok' : `taken as ${listed.toLocaleString('en')}`;
    },
  },
});
