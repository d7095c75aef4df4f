import { LONGEST_REJECTED_LIST } from '../ingest/intake-report.ts';
import { DIMENSIONS } from '../query/dimensions.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const int32 = { type: 'integer', format: 'int32' };
const int64 = { type: 'integer', format: 'int64' };
const text = { type: 'string' };
const list = (items: object) => ({ type: 'array', items });
const time = (description: string) => ({ ...int64, description: `${description}, Unix ms UTC` });

/** The schemas of `/openapi.json`, by name. */
export const SCHEMAS = {
  EventLogsSearchRequest: {
    type: 'object',
    additionalProperties: false,
    required: ['from', 'to'],
    properties: {
      from: time('Start of the window, inclusive; at most 72 hours ago'),
      to: time('End of the window, exclusive'),
      query: { type: ['string', 'null'], description: 'Terms that must all occur in ip, ruleId, url, ua or ruleName; "…" keeps a phrase' },
      filters: nullable(list(ref('EventLogsFilter'))),
      groupBy: nullable({ ...list({ enum: DIMENSIONS }), uniqueItems: true }),
      buckets: { type: ['integer', 'null'], format: 'int32', default: 0, description: 'Length of the sparklines; clamped to 0..500' },
      page: { ...int32, minimum: 0, default: 0 },
      pageSize: { type: ['integer', 'null'], format: 'int32', default: 50, description: 'Clamped to 1..500' },
    },
  },
  EventLogsFilter: {
    type: 'object',
    additionalProperties: false,
    required: ['field', 'op', 'value'],
    properties: {
      field: { enum: DIMENSIONS },
      op: { enum: ['eq', 'in', 'contains', 'cidr', 'wildcard'], description: 'cidr only on ip; in wildcard, * is any run of characters' },
      value: { ...list(text), minItems: 1, description: 'Alternatives: one must match' },
    },
  },
  EventLogsSearchResponse: {
    type: 'object',
    required: ['rows', 'groups', 'total', 'totalPages', 'page', 'errorResponse'],
    properties: {
      rows: nullable(list(ref('EventRow'))),
      groups: nullable(list(ref('EventGroup'))),
      total: int64,
      totalPages: int32,
      page: int32,
      errorResponse: ref('GenericRequestResponse'),
    },
  },
  EventRow: {
    type: 'object',
    properties: {
      logId: text,
      timestamp: time('When it happened'),
      log: { type: 'object', description: 'The full request context, as it was sent' },
      fields: { type: 'object', additionalProperties: text },
    },
  },
  EventGroup: {
    type: 'object',
    properties: {
      key: { type: 'object', additionalProperties: text },
      count: int64,
      firstSeen: time('First event'),
      lastSeen: time('Last event'),
      context: {
        type: 'object',
        properties: { country: text, asn: text, blocked: int64, challenged: int64, logged: int64, features: text, ruleIds: text },
      },
      sparkline: list(int64),
    },
  },
  GenericRequestResponse: {
    type: 'object',
    properties: {
      statusCode: int32,
      success: { type: 'boolean' },
      message: { type: ['string', 'null'] },
      errorKey: { type: ['string', 'null'] },
    },
  },
  Event: {
    type: 'object',
    required: ['shieldZoneId', 'timestamp'],
    properties: {
      logId: text,
      shieldZoneId: int32,
      timestamp: { anyOf: [time('When it happened'), { type: 'string', format: 'date-time' }] },
      ...Object.fromEntries([...DIMENSIONS, 'ruleName'].map((name) => [name, text])),
      asn: { type: ['string', 'integer'] },
      log: { type: 'object' },
    },
  },
  IntakeReport: {
    type: 'object',
    properties: {
      accepted: { ...int64, description: 'On disk and searchable' },
      expired: { ...int64, description: 'Older than the retention' },
      rejected: {
        ...list({ type: 'object', properties: { index: int64, reason: text } }),
        maxItems: LONGEST_REJECTED_LIST,
        description: `The first ${LONGEST_REJECTED_LIST.toLocaleString('en-US')} that became no events; all of them are kept as dead letters`,
      },
      rejectedCount: { ...int64, description: 'How many became no events, also those that `rejected` does not list' },
    },
  },
  DeadLetterList: {
    type: 'object',
    properties: {
      deadLetters: list({
        type: 'object',
        properties: {
          id: int64,
          receivedAtMs: time('When it arrived'),
          source: text,
          topic: { type: ['string', 'null'] },
          partition: { type: ['integer', 'null'] },
          offset: { type: ['string', 'null'] },
          reason: text,
          text: { ...text, description: 'The bytes, where they are UTF-8' },
          base64: { ...text, description: 'The bytes, where they are not' },
        },
      }),
      nextAfterId: { type: ['integer', 'null'], description: 'The afterId of the next page' },
    },
  },
  ReplayReport: { type: 'object', properties: { replayed: int64, stillRejected: int64 } },
  Readiness: { type: 'object', properties: { status: { enum: ['ready', 'not ready'] }, reasons: list(text) } },
  ProblemDetails: {
    type: 'object',
    properties: {
      type: text,
      title: text,
      status: int32,
      detail: text,
      instance: { type: ['string', 'null'] },
      errorKey: text,
      errors: list({ type: 'object', properties: { field: { ...text, description: 'JSON path' }, message: text } }),
    },
  },
} as const;
