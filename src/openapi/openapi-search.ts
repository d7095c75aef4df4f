import { exactly, listOf, nullable } from '../../edge/operations/json-schema.ts';
import { DIMENSIONS, FREE_TEXT_FIELDS, ruleOf, TEXT_FIELDS } from '../../query/event-fields.ts';
import { FILTER_OPS, filterOpsThat } from '../../query/filter-ops.ts';
import type { EventRow } from '../../query/plan/search-result.ts';
import { DEFAULT_PAGE_SIZE, MAX_PER_ANSWER, REACH_HOURS, SEARCH_LIMITS } from '../../query/search-limits.ts';
import { STORED_TEXT_BYTES } from '../../query/text-bytes.ts';
import { csvColumns, type ExportType, exportFormat } from '../export/export-format.ts';
import { joinParts } from '../http/answer-writes.ts';
import { SEARCH_ANSWER_TYPES } from '../http/content-negotiation.ts';
import {
  answer,
  content,
  type DescribedGroup,
  INT32_RANGE,
  int32Schema,
  int64Schema,
  integerIn,
  jsonBody,
  nullableText,
  ref,
  shownCount,
  textSchema,
  time,
  ZONES_IN_PATH,
} from './openapi-elements.ts';
import { AVAILABILITY_PROBLEMS, BODY_PROBLEMS } from './openapi-problems.ts';

/** The fields that have addresses. */
const ADDRESSES = DIMENSIONS.filter((name) => ruleOf(name) === 'address');

const listed = (names: readonly string[], word: string) => names.join(', ').replace(/, (\w+)$/, ` ${word} $1`);

/** The operations that search within texts. */
const SEARCHING = listed(filterOpsThat('searchesTexts'), 'and');

/** What JSON Schema can say of the values of these: it counts characters, not bytes. */
const SEARCHED_VALUES = { maxItems: SEARCH_LIMITS.searchedTexts, items: { maxLength: SEARCH_LIMITS.searchedTextBytes } };

/** A condition that filters with this op must fulfil. */
const onlyWith = (op: string, properties: object) => ({ anyOf: [{ properties: { op: { not: { const: op } } } }, { properties }] });

const ROW_PROPERTIES = {
  logId: textSchema,
  timestamp: time('When it happened'),
  log: { type: 'object', description: 'The full request context, as it was sent' },
  fields: { type: 'object', additionalProperties: textSchema, description: `The texts that the event has: ${listed(TEXT_FIELDS, 'and')}` },
};

const SEARCH_SCHEMAS = {
  EventLogsSearchRequest: {
    type: 'object',
    additionalProperties: false,
    required: ['from', 'to'],
    properties: {
      from: time(`Start of the window, inclusive; at most ${REACH_HOURS} hours ago`),
      to: time('End of the window, exclusive'),
      query: {
        type: ['string', 'null'],
        maxLength: SEARCH_LIMITS.queryLength,
        description:
          `Terms of at most ${shownCount(SEARCH_LIMITS.searchedTextBytes)} bytes each, which must all occur in ` +
          `${listed(FREE_TEXT_FIELDS, 'or')}; "…" keeps a phrase`,
      },
      filters: {
        ...nullable({ ...listOf(ref('EventLogsFilter')), maxItems: SEARCH_LIMITS.clauses }),
        description:
          `All must match. At most ${shownCount(SEARCH_LIMITS.allAlternatives)} values in all of them together; the terms of query and ` +
          `the values of ${SEARCHING} together at most ${SEARCH_LIMITS.searchedTexts}, with ` +
          `${shownCount(SEARCH_LIMITS.allSearchedBytes)} bytes in UTF-8`,
      },
      groupBy: nullable({ ...listOf({ enum: DIMENSIONS }), uniqueItems: true }),
      buckets: {
        type: ['integer', 'null'],
        ...INT32_RANGE,
        default: 0,
        description: `Length of the sparklines; clamped to 0..${MAX_PER_ANSWER}`,
      },
      page: { type: ['integer', 'null'], ...INT32_RANGE, minimum: 0, default: 0 },
      pageSize: { type: ['integer', 'null'], ...INT32_RANGE, default: DEFAULT_PAGE_SIZE, description: `Clamped to 1..${MAX_PER_ANSWER}` },
    },
  },
  EventLogsFilter: {
    type: 'object',
    additionalProperties: false,
    required: ['field', 'op', 'value'],
    properties: {
      field: { enum: DIMENSIONS },
      op: {
        enum: Object.keys(FILTER_OPS),
        description:
          `cidr only on ${listed(ADDRESSES, 'and')}; in wildcard, * is any run of characters, at most ${SEARCH_LIMITS.starRuns} with ` +
          'text between them',
      },
      value: {
        ...listOf(textSchema),
        minItems: 1,
        maxItems: SEARCH_LIMITS.alternatives,
        description:
          'Alternatives: one must match. For cidr an IPv4 or IPv6 address, with or without the length of a prefix; an IPv6 range ' +
          'matches no IPv4 address, but for ranges inside ::ffff:0:0/96, and a range that has all of 1.2.3.0/24 matches 1.2.3.*. ' +
          `For ${SEARCHING} at most ` +
          `${shownCount(SEARCH_LIMITS.searchedTextBytes)} bytes in UTF-8 each; of longer ones for eq and in, the first ` +
          `${shownCount(STORED_TEXT_BYTES)} count, which are those that events have`,
      },
    },
    allOf: [
      ...filterOpsThat('onAddresses').map((op) => onlyWith(op, { field: { enum: ADDRESSES } })),
      ...filterOpsThat('searchesTexts').map((op) => onlyWith(op, { value: SEARCHED_VALUES })),
      ...filterOpsThat('refusesEmpty').map((op) => onlyWith(op, { value: { items: { minLength: 1 } } })),
    ],
  },
  EventLogsSearchResponse: {
    ...exactly({
      rows: { ...nullable(listOf(ref('EventRow'))), description: 'Without groupBy; else null' },
      groups: { ...nullable(listOf(ref('EventGroup'))), description: 'With groupBy; else null' },
      total: { ...int64Schema, description: 'Events, or groups, of all pages' },
      totalPages: int32Schema,
      page: int32Schema,
      errorResponse: ref('GenericRequestResponse'),
    }),
    description: 'One of rows and groups is there, the other is null',
  },
  EventRow: exactly(ROW_PROPERTIES),
  EventGroup: exactly(
    {
      key: { type: 'object', additionalProperties: textSchema, description: 'By dimension; "" where events have none' },
      count: int64Schema,
      firstSeen: time('First event'),
      lastSeen: time('Last event'),
      context: {
        ...exactly({
          country: textSchema,
          asn: textSchema,
          blocked: int64Schema,
          challenged: int64Schema,
          logged: int64Schema,
          features: textSchema,
          ruleIds: textSchema,
        }),
        description: 'The most frequent country and asn, events by action, features and ruleIds joined by commas',
      },
      sparkline: { ...listOf(int64Schema), description: 'Where buckets was above 0: events in each' },
    },
    ['sparkline'],
  ),
  GenericRequestResponse: exactly({ statusCode: int32Schema, success: { type: 'boolean' }, message: nullableText, errorKey: nullableText }),
} as const;

const SEARCH_PATH = '/shield/event-logs/{shieldZoneId}/search';

/** A window of an hour. The served document moves it to the present. */
export const WINDOW = { from: 1_767_225_600_000, to: 1_767_229_200_000 };

export const SUCCEEDED = { statusCode: 200, success: true, message: null, errorKey: null };

const REQUESTS = {
  rows: {
    summary: 'Blocked requests of two networks, newest first',
    value: {
      ...WINDOW,
      query: 'login',
      filters: [
        { field: 'ip', op: 'cidr', value: ['192.0.2.0/24', '2001:db8::/32'] },
        { field: 'action', op: 'eq', value: ['blocked'] },
      ],
      page: 0,
      pageSize: 50,
    },
  },
  groups: {
    summary: 'Who is blocked most, with a sparkline of twelve buckets',
    value: {
      ...WINDOW,
      filters: [{ field: 'action', op: 'in', value: ['blocked', 'challenged'] }],
      groupBy: ['ip', 'country'],
      buckets: 12,
    },
  },
};

const ANSWERS = {
  rows: {
    summary: 'Rows',
    value: {
      rows: [
        {
          logId: '7f0c5a',
          timestamp: 1_767_228_000_123,
          log: { RemoteIp: '192.0.2.7', Url: 'https://shop.example/login', Message: 'SQL injection' },
          fields: {
            feature: 'waf',
            ruleId: '942100',
            ruleName: 'SQL injection',
            ip: '192.0.2.7',
            url: 'https://shop.example/login',
            asn: '64500',
            country: 'CH',
            action: 'blocked',
          },
        },
      ],
      groups: null,
      total: 1,
      totalPages: 1,
      page: 0,
      errorResponse: SUCCEEDED,
    },
  },
  groups: {
    summary: 'Groups',
    value: {
      rows: null,
      groups: [
        {
          key: { ip: '192.0.2.7', country: 'CH' },
          count: 3,
          firstSeen: 1_767_226_000_000,
          lastSeen: 1_767_228_000_123,
          context: { country: 'CH', asn: '64500', blocked: 2, challenged: 1, logged: 0, features: 'bot-detection,waf', ruleIds: '942100' },
          sparkline: [0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0],
        },
      ],
      total: 1,
      totalPages: 1,
      page: 0,
      errorResponse: SUCCEEDED,
    },
  },
};

/** The problems of all kinds of searches with a body. */
export const SEARCH_PROBLEMS = [
  ...BODY_PROBLEMS,
  'access.zone_denied',
  'accept.none',
  'caller.busy',
  'search.deadline',
  ...AVAILABILITY_PROBLEMS,
] as const;

/** The search. */
export const SEARCH_GROUP = {
  tag: 'Event logs',
  about: 'What happened in a shield zone',
  paths: {
    [SEARCH_PATH]: {
      post: {
        operationId: 'searchEventLogs',
        summary: 'Search, filter and group the event logs of a shield zone',
        description: 'Operation 1. Of a zone that no event was ever sent for, nothing is found.',
        parameters: [integerIn('path', 'shieldZoneId', INT32_RANGE, 'The shield zone', 7)],
        requestBody: jsonBody('EventLogsSearchRequest', REQUESTS),
        responses: {
          200: answer('Rows, or groups where groupBy was given', 'EventLogsSearchResponse', ANSWERS, SEARCH_ANSWER_TYPES),
        },
        problems: [...SEARCH_PROBLEMS],
      },
    },
  },
  schemas: SEARCH_SCHEMAS,
} as const satisfies DescribedGroup;

const EXPORT_PATH = '/shield/event-logs/{shieldZoneId}/export';

const { from, to, query, filters } = SEARCH_SCHEMAS.EventLogsSearchRequest.properties;

/** The clauses that keep events out, in requests that take them. */
export const EXCLUDE = {
  ...nullable({ ...listOf(ref('EventLogsFilter')), maxItems: SEARCH_LIMITS.clauses }),
  description: `None may match. All limits of filters hold for both together, also ${SEARCH_LIMITS.clauses} clauses`,
};

const EXPORT_REQUEST = {
  blocked: {
    summary: 'Everything that was blocked in an hour, but for one country',
    value: {
      ...WINDOW,
      filters: [{ field: 'action', op: 'eq', value: ['blocked'] }],
      exclude: [{ field: 'country', op: 'eq', value: ['CH'] }],
    },
  },
};

const ROW: EventRow = {
  zoneId: 7,
  logId: '7f0c5a',
  timestamp: 1_767_228_000_123,
  log: Buffer.from('{"RemoteIp":"192.0.2.7"}'),
  fields: { ip: '192.0.2.7', url: 'https://shop.example/login', action: 'blocked' },
};

/** The example as a file of that type. */
function exampleIn(type: ExportType): string {
  const { header, writeRow } = exportFormat(type, { hasZones: false });
  return joinParts([header, ...writeRow(ROW)]).toString();
}

/** The export. */
export const EXPORT_GROUP = {
  tag: 'Event logs',
  paths: {
    [EXPORT_PATH]: {
      post: {
        operationId: 'exportEventLogs',
        summary: 'Export everything that a search would find, newest first',
        description:
          'Accept-Encoding may be zstd or gzip. An answer that breaks off is cut in its transfer: it is not whole. Of a list of zones or ' +
          'all, each row has its shieldZoneId.',
        parameters: [
          ZONES_IN_PATH,
          {
            name: 'bom',
            in: 'query',
            description: 'Whether CSV begins with a BOM, by which some spreadsheets know UTF-8. true is refused for another type',
            schema: { enum: ['true', 'false'], default: 'false' },
          },
          {
            name: 'columns',
            in: 'query',
            description:
              'The columns of CSV in their order, each once, with commas between; all by default. shieldZoneId is one for a list of ' +
              'zones or all. It is refused for another type',
            style: 'form',
            explode: false,
            schema: { ...listOf({ enum: csvColumns(true) }), minItems: 1, uniqueItems: true },
          },
        ],
        requestBody: jsonBody('EventLogsExportRequest', EXPORT_REQUEST),
        responses: {
          200: {
            description: 'A row for each event',
            content: {
              ...content(['text/csv'], { type: 'string' }, { csv: { summary: 'RFC 4180 with a header', value: exampleIn('text/csv') } }),
              ...content(
                ['application/x-ndjson'],
                { anyOf: [ref('EventRow'), ref('ZoneEventRow')] },
                {
                  line: { summary: 'A row of the search a line', value: exampleIn('application/x-ndjson') },
                },
              ),
            },
          },
          // The slots of exports bound their number, so that the queue refuses none.
        },
        problems: [...SEARCH_PROBLEMS.filter((key) => key !== 'caller.busy')],
      },
    },
  },
  schemas: {
    EventLogsExportRequest: {
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to'],
      properties: { from, to, query, filters, exclude: EXCLUDE },
    },
    ZoneEventRow: { ...exactly({ ...ROW_PROPERTIES, shieldZoneId: int32Schema }), description: 'A row where there may be several zones' },
  },
} as const satisfies DescribedGroup;
