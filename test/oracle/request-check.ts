import { Ajv } from 'ajv';
import type { OracleExploreRequest, OracleHistogramRequest, OracleSelection } from './explore-oracle.ts';
import { toRange } from './match-address.ts';
import { ORACLE_OPS, type OracleFilter, queryTerms } from './match-event.ts';
import type { OracleMatch, OracleRequest } from './search-oracle.ts';

const DIMENSIONS = ['feature', 'ruleId', 'ip', 'ja4', 'ua', 'url', 'asn', 'country', 'action'];
const INT32 = { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const INT64 = { type: 'integer', minimum: -(2 ** 63), maximum: 2 ** 63 };

const FILTER = {
  type: 'object',
  additionalProperties: false,
  required: ['field', 'op', 'value'],
  properties: {
    field: { enum: DIMENSIONS },
    op: { enum: ORACLE_OPS },
    value: { type: 'array', minItems: 1, items: { type: 'string' } },
  },
};

/** EventLogsSearchRequest as the specification describes it, with what is decided about null and repeated dimensions. */
const REQUEST = {
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to'],
  properties: {
    from: INT64,
    to: INT64,
    query: { type: 'string', nullable: true },
    filters: { type: 'array', nullable: true, items: FILTER },
    groupBy: { type: 'array', nullable: true, uniqueItems: true, items: { enum: DIMENSIONS } },
    buckets: { ...INT32, nullable: true },
    page: { ...INT32, nullable: true, minimum: 0 },
    pageSize: { ...INT32, nullable: true },
  },
};

const GROUP_DIMENSIONS = [...DIMENSIONS, 'shieldZoneId'];

const CLAUSES = { type: 'array', nullable: true, items: FILTER };

/** EventLogsExploreRequest as it is decided. */
const EXPLORE_REQUEST = {
  ...REQUEST,
  properties: {
    ...REQUEST.properties,
    exclude: CLAUSES,
    groupBy: { type: 'array', nullable: true, uniqueItems: true, items: { enum: GROUP_DIMENSIONS } },
    histogram: {
      type: 'object',
      nullable: true,
      additionalProperties: false,
      properties: {
        buckets: { type: 'integer', nullable: true, minimum: 1, maximum: 500 },
        width: { type: 'integer', nullable: true, minimum: 1, maximum: 86_400_000 },
        by: { enum: [...GROUP_DIMENSIONS, null] },
      },
    },
    facets: {
      type: 'array',
      nullable: true,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['field'],
        properties: {
          field: { enum: GROUP_DIMENSIONS },
          limit: { type: 'integer', nullable: true, minimum: 1, maximum: 100 },
          order: { enum: ['count', 'difference', null] },
        },
      },
    },
    combinations: {
      type: 'array',
      nullable: true,
      minItems: 2,
      maxItems: 8,
      uniqueItems: true,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['field', 'value'],
        properties: { field: { enum: DIMENSIONS }, value: { type: 'string' } },
      },
    },
    selection: {
      type: 'object',
      nullable: true,
      additionalProperties: false,
      properties: {
        from: { ...INT64, nullable: true },
        to: { ...INT64, nullable: true },
        query: { type: 'string', nullable: true },
        filters: CLAUSES,
        exclude: CLAUSES,
      },
    },
  },
};

const ajv = new Ajv({ strict: false });
const hasShape = ajv.compile<OracleRequest>(REQUEST);
const hasExploreShape = ajv.compile<OracleExploreRequest>(EXPLORE_REQUEST);

/** Whether the search has to take this body, rather than answer 400. */
export function isValidRequest(body: unknown, nowMs: number): boolean {
  return hasShape(body) && isWindow(body, nowMs) && (body.filters ?? []).every(isSensible) && isBounded(body);
}

/** Whether the explorer has to take this body, rather than answer 400. */
export function isValidExplore(body: unknown, nowMs: number): boolean {
  if (!hasExploreShape(body) || !isWindow(body, nowMs) || !isBounded(body, body.selection ?? {})) {
    return false;
  }
  const { filters, exclude, histogram, facets, selection } = body;
  const clauses = [filters, exclude, selection?.filters, selection?.exclude].flatMap((list) => list ?? []);
  const fields = (facets ?? []).map(({ field }) => field);
  const comparesWithNothing = !selection && (body.combinations || (facets ?? []).some(({ order }) => order === 'difference'));
  return (
    clauses.every(isSensible) &&
    new Set(fields).size === fields.length &&
    !comparesWithNothing &&
    (!selection || isPart(selection)) &&
    (!histogram || isDivided(histogram, body))
  );
}

/** It says how many buckets there are or how wide they are, and not both, and they are not too many. */
function isDivided({ buckets, width }: OracleHistogramRequest, { from, to }: OracleRequest): boolean {
  if (typeof width !== 'number') {
    return typeof buckets === 'number';
  }
  return typeof buckets !== 'number' && Math.floor((to - 1) / width) - Math.floor(from / width) < 500;
}

function isWindow({ from, to }: OracleRequest, nowMs: number): boolean {
  return to > from && from >= nowMs - 72 * 3_600_000 - 60_000 && to <= nowMs + 60_000;
}

/** The bytes of each text that is searched for within others: the different words of a query, and what values have to contain. */
export function searchedBytes({ query, filters, exclude }: OracleMatch): readonly number[] {
  const values = [...(filters ?? []), ...(exclude ?? [])].filter(({ op }) => op === 'contains' || op === 'wildcard');
  return [...new Set(queryTerms(query ?? '')), ...values.flatMap(({ value }) => value)].map((text) => Buffer.byteLength(text));
}

/** What is searched for is not more than may be. */
function isBounded(...matches: readonly OracleMatch[]): boolean {
  const lengths = matches.flatMap(searchedBytes);
  return lengths.length <= 128 && lengths.every((length) => length <= 1_024) && lengths.reduce((a, b) => a + b, 0) <= 16_384;
}

/** It says something, and does not end before it begins. */
function isPart({ from, to, query, filters, exclude }: OracleSelection): boolean {
  const isGiven = [from, to, query, filters, exclude].some((part) => (part ?? null) !== null);
  return isGiven && (typeof from !== 'number' || typeof to !== 'number' || to > from);
}

function isSensible({ field, op, value }: OracleFilter): boolean {
  if (op === 'contains') {
    return !value.includes('');
  }
  return op !== 'cidr' || (field === 'ip' && value.every((text) => toRange(text) !== null));
}
