import { LONGEST_REJECTED_LIST } from '../ingest/intake-report.ts';
import { DIMENSIONS } from '../query/dimensions.ts';
import { SEARCH_LIMITS } from '../query/search-limits.ts';
import { INT32 } from '../query/wire-integer.ts';
import { PROBLEMS } from './problem.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const int32Range = { format: 'int32', minimum: Number(INT32.least), maximum: Number(INT32.most) };
const int32 = { type: 'integer', ...int32Range };
const int64 = { type: 'integer', format: 'int64' };
const text = { type: 'string' };
const nullableText = { type: ['string', 'null'] };
const count = (limit: number) => limit.toLocaleString('en-US');
const searchedText = { ...text, maxLength: SEARCH_LIMITS.textLength };
const list = (items: object) => ({ type: 'array', items });
const time = (description: string) => ({ ...int64, description: `${description}, Unix ms UTC` });

/** What must hold of a filter with this op. */
const onlyWith = (op: string, properties: object) => ({ anyOf: [{ properties: { op: { not: { const: op } } } }, { properties }] });

/** The intake's own rule, in `ingest/wire-event.ts`. */
const LONGEST_LOG_ID_BYTES = 512;

/** The schemas of `/openapi.json`, by name. */
export const SCHEMAS = {
  EventLogsSearchRequest: {
    type: 'object',
    additionalProperties: false,
    required: ['from', 'to'],
    properties: {
      from: time('Start of the window, inclusive; at most 72 hours ago'),
      to: time('End of the window, exclusive'),
      query: {
        type: ['string', 'null'],
        maxLength: SEARCH_LIMITS.textLength,
        description: `At most ${SEARCH_LIMITS.terms} terms, which must all occur in ip, ruleId, url, ua or ruleName; "…" keeps a phrase`,
      },
      filters: {
        ...nullable({ ...list(ref('EventLogsFilter')), maxItems: SEARCH_LIMITS.clauses }),
        description: `All must match. At most ${count(SEARCH_LIMITS.allAlternatives)} values in all of them together, ${SEARCH_LIMITS.searchedTexts} in those for contains and wildcard`,
      },
      groupBy: nullable({ ...list({ enum: DIMENSIONS }), uniqueItems: true }),
      buckets: { type: ['integer', 'null'], ...int32Range, default: 0, description: 'Length of the sparklines; clamped to 0..500' },
      page: { type: ['integer', 'null'], ...int32Range, minimum: 0, default: 0 },
      pageSize: { type: ['integer', 'null'], ...int32Range, default: 50, description: 'Clamped to 1..500' },
    },
  },
  EventLogsFilter: {
    type: 'object',
    additionalProperties: false,
    required: ['field', 'op', 'value'],
    properties: {
      field: { enum: DIMENSIONS },
      op: {
        enum: ['eq', 'in', 'contains', 'cidr', 'wildcard'],
        description: `cidr only on ip; in wildcard, * is any run of characters, at most ${SEARCH_LIMITS.starRuns} with text between them`,
      },
      value: {
        ...list(searchedText),
        minItems: 1,
        maxItems: SEARCH_LIMITS.alternatives,
        description: 'Alternatives: one must match. For cidr an IPv4 or IPv6 address, with or without the length of a prefix',
      },
    },
    allOf: [onlyWith('cidr', { field: { const: 'ip' } }), onlyWith('contains', { value: { items: { minLength: 1 } } })],
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
      logId: {
        ...nullableText,
        minLength: 1,
        maxLength: LONGEST_LOG_ID_BYTES,
        description: `Unique; 1 to ${LONGEST_LOG_ID_BYTES} bytes of UTF-8. Without one it is made of the event's own bytes`,
      },
      shieldZoneId: int32,
      timestamp: { anyOf: [time('When it happened'), { type: 'string', format: 'date-time', description: 'ISO 8601 with a zone' }] },
      ...Object.fromEntries([...DIMENSIONS, 'ruleName'].map((name) => [name, nullableText])),
      asn: {
        type: ['string', 'integer', 'null'],
        minimum: 0,
        pattern: '^(([Aa][Ss])?[0-9]+)?$',
        description: 'Decimal digits, as a number or a text, which may begin with AS; "" is none',
      },
      log: { type: ['object', 'null'], description: 'The request as it was. Without one the whole event is the log' },
    },
    description: 'Members with other names belong to the log. At most 1 MiB, and not more than 10 minutes in the future',
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
  ReplayRequest: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ids: { ...list({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), description: 'Left out: all dead letters' },
    },
  },
  ReplayReport: { type: 'object', properties: { replayed: int64, stillRejected: int64 } },
  Readiness: { type: 'object', properties: { status: { enum: ['ready', 'not ready'] }, reasons: list(text) } },
  ProblemDetails: {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'instance', 'errorKey'],
    properties: {
      type: text,
      title: text,
      status: int32,
      detail: text,
      instance: { type: ['string', 'null'] },
      errorKey: { enum: Object.keys(PROBLEMS) },
      errors: list({ type: 'object', properties: { field: { ...text, description: 'JSON path, or name of a parameter' }, message: text } }),
    },
  },
} as const;
