import { Ajv } from 'ajv';
import { toRange } from './match-address.ts';
import { ORACLE_OPS, type OracleFilter } from './match-event.ts';
import type { OracleRequest } from './search-oracle.ts';

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

const hasShape = new Ajv({ strict: false }).compile<OracleRequest>(REQUEST);

/** Whether the search has to take this body, rather than answer 400. */
export function isValidRequest(body: unknown, nowMs: number): boolean {
  if (!hasShape(body)) {
    return false;
  }
  const { from, to, filters } = body;
  const isWindow = to > from && from >= nowMs - 72 * 3_600_000 - 60_000 && to <= nowMs + 60_000;
  return isWindow && (filters ?? []).every(isSensible);
}

function isSensible({ field, op, value }: OracleFilter): boolean {
  if (op === 'contains') {
    return !value.includes('');
  }
  return op !== 'cidr' || (field === 'ip' && value.every((text) => toRange(text) !== null));
}
