import { DIMENSIONS } from '../../query/dimensions.ts';
import { SEARCH_LIMITS } from '../../query/search-limits.ts';
import { ref } from './openapi-content.ts';
import { exactly, INT32_RANGE, int32, int64, list, nullable, nullableText, shownCount, text, time } from './openapi-values.ts';

const searchedText = { ...text, maxLength: SEARCH_LIMITS.textLength };

/** What must hold of a filter with this op. */
const onlyWith = (op: string, properties: object) => ({ anyOf: [{ properties: { op: { not: { const: op } } } }, { properties }] });

/** What a search takes and answers. */
export const SEARCH_SCHEMAS = {
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
        description: `All must match. At most ${shownCount(SEARCH_LIMITS.allAlternatives)} values in all of them together, ${SEARCH_LIMITS.searchedTexts} in those for contains and wildcard`,
      },
      groupBy: nullable({ ...list({ enum: DIMENSIONS }), uniqueItems: true }),
      buckets: { type: ['integer', 'null'], ...INT32_RANGE, default: 0, description: 'Length of the sparklines; clamped to 0..500' },
      page: { type: ['integer', 'null'], ...INT32_RANGE, minimum: 0, default: 0 },
      pageSize: { type: ['integer', 'null'], ...INT32_RANGE, default: 50, description: 'Clamped to 1..500' },
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
        description: `cidr only on ip; in wildcard, * is any run of characters, at most ${SEARCH_LIMITS.starRuns} with text between them, and ${shownCount(SEARCH_LIMITS.allStarRuns)} in all filters together`,
      },
      value: {
        ...list(searchedText),
        minItems: 1,
        maxItems: SEARCH_LIMITS.alternatives,
        description:
          'Alternatives: one must match. For cidr an IPv4 or IPv6 address, with or without the length of a prefix; an IPv6 range matches no IPv4 address, but for ranges inside ::ffff:0:0/96',
      },
    },
    allOf: [onlyWith('cidr', { field: { const: 'ip' } }), onlyWith('contains', { value: { items: { minLength: 1 } } })],
  },
  EventLogsSearchResponse: {
    ...exactly({
      rows: { ...nullable(list(ref('EventRow'))), description: 'Without groupBy; else null' },
      groups: { ...nullable(list(ref('EventGroup'))), description: 'With groupBy; else null' },
      total: { ...int64, description: 'Events, or groups, of all pages' },
      totalPages: int32,
      page: int32,
      errorResponse: ref('GenericRequestResponse'),
    }),
    description: 'One of rows and groups is there, the other is null',
  },
  EventRow: exactly({
    logId: text,
    timestamp: time('When it happened'),
    log: { type: 'object', description: 'The full request context, as it was sent' },
    fields: { type: 'object', additionalProperties: text, description: 'The dimensions that the event has, and ruleName' },
  }),
  EventGroup: exactly(
    {
      key: { type: 'object', additionalProperties: text, description: 'By dimension; "" where events have none' },
      count: int64,
      firstSeen: time('First event'),
      lastSeen: time('Last event'),
      context: {
        ...exactly({ country: text, asn: text, blocked: int64, challenged: int64, logged: int64, features: text, ruleIds: text }),
        description: 'The most frequent country and asn, events by action, features and ruleIds joined by commas',
      },
      sparkline: { ...list(int64), description: 'Where buckets was above 0: events in each' },
    },
    ['sparkline'],
  ),
  GenericRequestResponse: exactly({ statusCode: int32, success: { type: 'boolean' }, message: nullableText, errorKey: nullableText }),
} as const;
