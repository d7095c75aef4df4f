import { exactly, listOf, nullable } from '../../edge/operations/json-schema.ts';
import { DIMENSIONS, GROUP_DIMENSIONS } from '../../query/event-fields.ts';
import { FACET_ORDERS } from '../../query/request/explore-request.ts';
import {
  DEFAULT_FACET_VALUES,
  DEFAULT_PAGE_SIZE,
  MAX_ACTIVE_RULES,
  MAX_BUCKET_WIDTH_MS,
  MAX_COMBINED,
  MAX_FACET_VALUES,
  MAX_HISTOGRAM_SERIES,
  MAX_PER_ANSWER,
} from '../../query/search-limits.ts';
import { SEARCH_ANSWER_TYPES } from '../http/content-negotiation.ts';
import {
  answer,
  type DescribedGroup,
  INT32_RANGE,
  int32Schema,
  int64Schema,
  jsonBody,
  nullableText,
  ref,
  textSchema,
  time,
  ZONES_IN_PATH,
} from './openapi-elements.ts';
import { AVAILABILITY_PROBLEMS, KEY_PROBLEMS } from './openapi-problems.ts';
import { EXCLUDE, SEARCH_GROUP, SEARCH_PROBLEMS, SUCCEEDED, WINDOW } from './openapi-search.ts';

const { EventLogsSearchRequest, EventLogsSearchResponse } = SEARCH_GROUP.schemas;
const { query, filters } = EventLogsSearchRequest.properties;

const nullableTime = (description: string) => ({ ...time(description), type: ['integer', 'null'] });

const isGiven = (name: string) => ({ required: [name], properties: { [name]: { not: { type: 'null' } } } });

const SELECTION_TIMES = {
  from: nullableTime('Start, inclusive; by default that of the window'),
  to: nullableTime('End, exclusive; by default that of the window'),
};

const REQUEST_SCHEMAS = {
  EventLogsExploreRequest: {
    type: 'object',
    additionalProperties: false,
    required: EventLogsSearchRequest.required,
    properties: {
      ...EventLogsSearchRequest.properties,
      exclude: EXCLUDE,
      groupBy: nullable({ ...listOf({ enum: GROUP_DIMENSIONS }), uniqueItems: true }),
      pageSize: {
        type: ['integer', 'null'],
        ...INT32_RANGE,
        default: DEFAULT_PAGE_SIZE,
        description: `0 asks for no rows and no groups; any other is clamped to 1..${MAX_PER_ANSWER}`,
      },
      histogram: nullable(ref('EventLogsHistogramRequest')),
      facets: {
        ...nullable({ ...listOf(ref('EventLogsFacetRequest')), maxItems: GROUP_DIMENSIONS.length }),
        description: 'Each field once; none are asked for by null or an empty list',
      },
      selection: nullable(ref('EventLogsSelection')),
      combinations: {
        ...nullable({ ...listOf(ref('EventLogsCondition')), minItems: 2, maxItems: MAX_COMBINED }),
        description: 'Only with a selection, each once: all sets of them that events of the result meet are counted',
      },
    },
    anyOf: [
      isGiven('selection'),
      { properties: { combinations: { maxItems: 0 }, facets: { items: { properties: { order: { not: { const: 'difference' } } } } } } },
    ],
  },
  EventLogsHistogramRequest: {
    type: 'object',
    additionalProperties: false,
    properties: {
      buckets: {
        ...{ type: ['integer', 'null'], format: 'int32', minimum: 1, maximum: MAX_PER_ANSWER },
        description: 'Parts of equal length of the window',
      },
      width: {
        ...{ type: ['integer', 'null'], format: 'int32', minimum: 1, maximum: MAX_BUCKET_WIDTH_MS },
        description:
          'Milliseconds of each bucket. They begin at multiples of it since 1970 in UTC, the first with from or before it, and are at ' +
          `most ${MAX_PER_ANSWER}; only events of the window count`,
      },
      by: { enum: [...GROUP_DIMENSIONS, null], description: 'A series for each of its most frequent values; null: one of all events' },
    },
    oneOf: ['buckets', 'width'].map(isGiven),
  },
  EventLogsFacetRequest: {
    type: 'object',
    additionalProperties: false,
    required: ['field'],
    properties: {
      field: { enum: GROUP_DIMENSIONS },
      limit: { type: ['integer', 'null'], format: 'int32', minimum: 1, maximum: MAX_FACET_VALUES, default: DEFAULT_FACET_VALUES },
      order: {
        enum: [...FACET_ORDERS, null],
        default: 'count',
        description:
          'count: the most frequent values first. difference, only with a selection: first those whose share of the selection exceeds ' +
          'their share of the rest most',
      },
    },
  },
  EventLogsSelection: {
    type: 'object',
    additionalProperties: false,
    properties: { ...SELECTION_TIMES, query, filters, exclude: EXCLUDE },
    anyOf: ['from', 'to', 'query', 'filters', 'exclude'].map(isGiven),
    description:
      'A part of the result to hold against the rest of it. What lies outside the window is empty. Its words and clauses count towards ' +
      'the limits of all of them',
  },
  EventLogsCondition: {
    type: 'object',
    additionalProperties: false,
    required: ['field', 'value'],
    properties: { field: { enum: DIMENSIONS }, value: { ...textSchema, description: 'Compared as by eq' } },
  },
} as const;

const counts = {
  total: { ...int64Schema, description: 'Events of all buckets' },
  counts: { ...listOf(int64Schema), description: 'Events in each bucket' },
};

const { errorResponse, ...pages } = EventLogsSearchResponse.properties;

const ANSWER_SCHEMAS = {
  EventLogsExploreResponse: {
    ...exactly({
      ...pages,
      rows: { ...nullable(listOf(ref('ZoneEventRow'))), description: 'Without groupBy; else null' },
      histogram: { ...nullable(ref('EventLogsHistogram')), description: 'Null where not asked for' },
      facets: { ...nullable(listOf(ref('EventLogsFacet'))), description: 'In the order asked; null where not asked for' },
      selectedTotal: { type: ['integer', 'null'], format: 'int64', description: 'Events of the selection; null without one' },
      combinations: {
        ...nullable(listOf(ref('EventLogsCombination'))),
        description: 'By count descending, then by met; null where not asked for',
      },
      errorResponse,
    }),
    description: 'One of rows and groups is there, the other is null; both are where pageSize was 0, and totalPages is 0',
  },
  EventLogsHistogram: exactly({
    from: time('Start of the first bucket'),
    to: time('End of the last bucket, exclusive'),
    buckets: int32Schema,
    series: {
      ...listOf(exactly({ value: { ...nullableText, description: 'Null without by; "" where events have none' }, ...counts })),
      maxItems: MAX_HISTOGRAM_SERIES,
      description: `The most frequent values of by, at most ${MAX_HISTOGRAM_SERIES}`,
    },
    other: { ...nullable(exactly(counts)), description: 'All other values; null where there are none' },
  }),
  EventLogsFacet: exactly({
    field: { enum: GROUP_DIMENSIONS },
    distinct: { ...int64Schema, description: 'Number of its values in the result; spellings of a value count once' },
    values: {
      ...listOf(
        exactly({
          value: { ...textSchema, description: '"" where events have none' },
          count: int64Schema,
          selected: { type: ['integer', 'null'], format: 'int64', description: 'Events of it in the selection; null without one' },
          spellings: {
            ...int64Schema,
            description:
              'How many spellings of it the result has. Values of feature, country and action that are equal in lower case are one, and ' +
              'value is the most frequent spelling; 1 for all other fields',
          },
        }),
      ),
      maxItems: MAX_FACET_VALUES,
    },
  }),
  EventLogsCombination: exactly({
    met: {
      ...listOf(int32Schema),
      description: 'The conditions that its events meet, exactly and no others, as indexes in the request, ascending',
    },
    count: int64Schema,
    selected: { ...int64Schema, description: 'Events of it in the selection' },
  }),
  EventLogsZonesResponse: exactly({
    zones: {
      ...listOf(exactly({ shieldZoneId: int32Schema, count: int64Schema, last: time('Last event in the window') })),
      description: 'The one with the most events first',
    },
  }),
  EventLogsRulesResponse: exactly({
    rules: {
      ...listOf(
        exactly({
          ruleId: textSchema,
          ruleName: { ...textSchema, description: 'That of most of its events, the smaller of equals; "" where none of them has one' },
          count: int64Schema,
        }),
      ),
      maxItems: MAX_ACTIVE_RULES,
      description: 'The one with the most events first, then by ruleId; events without a rule are left out',
    },
  }),
} as const;

const REQUESTS = {
  overview: {
    summary: 'How many of each action, when, and who and what they were',
    value: {
      ...WINDOW,
      exclude: [{ field: 'country', op: 'eq', value: ['CH'] }],
      pageSize: 0,
      histogram: { buckets: 4, by: 'action' },
      facets: [{ field: 'country' }, { field: 'ip', limit: 5 }],
    },
  },
  difference: {
    summary: 'What is different in the last half hour',
    value: {
      ...WINDOW,
      pageSize: 1,
      facets: [{ field: 'asn', limit: 2, order: 'difference' }],
      selection: { from: 1_767_227_400_000 },
      combinations: [
        { field: 'asn', value: '64500' },
        { field: 'country', value: 'NL' },
      ],
    },
  },
};

const ANSWERS = {
  overview: {
    summary: 'A histogram and facets alone',
    value: {
      rows: null,
      groups: null,
      total: 5,
      totalPages: 0,
      page: 0,
      histogram: {
        ...WINDOW,
        buckets: 4,
        series: [
          { value: 'blocked', total: 3, counts: [0, 1, 2, 0] },
          { value: 'logged', total: 2, counts: [1, 0, 0, 1] },
        ],
        other: null,
      },
      facets: [
        { field: 'country', distinct: 1, values: [{ value: 'NL', count: 5, selected: null, spellings: 1 }] },
        {
          field: 'ip',
          distinct: 2,
          values: [
            { value: '192.0.2.7', count: 3, selected: null, spellings: 1 },
            { value: '192.0.2.8', count: 2, selected: null, spellings: 1 },
          ],
        },
      ],
      selectedTotal: null,
      combinations: null,
      errorResponse: SUCCEEDED,
    },
  },
  difference: {
    summary: 'A row, and a selection against the rest',
    value: {
      rows: [
        {
          logId: '7f0c5a',
          timestamp: 1_767_228_000_123,
          log: { RemoteIp: '192.0.2.7' },
          fields: { ip: '192.0.2.7', asn: '64500', action: 'blocked' },
          shieldZoneId: 7,
        },
      ],
      groups: null,
      total: 5,
      totalPages: 5,
      page: 0,
      histogram: null,
      facets: [
        {
          field: 'asn',
          distinct: 2,
          values: [
            { value: '64500', count: 3, selected: 2, spellings: 1 },
            { value: '64501', count: 2, selected: 0, spellings: 1 },
          ],
        },
      ],
      selectedTotal: 2,
      combinations: [
        { met: [0, 1], count: 2, selected: 2 },
        { met: [1], count: 2, selected: 0 },
        { met: [0], count: 1, selected: 0 },
      ],
      errorResponse: SUCCEEDED,
    },
  },
};

const ZONES = {
  zones: { summary: 'Two zones', value: { zones: [7, 1].map((shieldZoneId) => ({ shieldZoneId, count: 42, last: 1_767_228_000_123 })) } },
};

const RULES = {
  rules: { summary: 'A rule', value: { rules: [{ ruleId: '942100', ruleName: 'SQL Injection Attack Detected', count: 42 }] } },
};

const windowEnd = (name: 'from' | 'to') => ({
  name,
  in: 'query',
  required: true,
  description: EventLogsSearchRequest.properties[name].description,
  schema: int64Schema,
  example: WINDOW[name],
});

/** What a question about a window alone may end in. */
const WINDOW_PROBLEMS = [
  'request.invalid',
  ...KEY_PROBLEMS,
  'accept.none',
  'caller.busy',
  'search.deadline',
  ...AVAILABILITY_PROBLEMS,
] as const;

/** What an explorer asks. */
export const EXPLORE_GROUP = {
  tag: 'Event logs',
  paths: {
    '/shield/event-logs/{shieldZoneId}/explore': {
      post: {
        operationId: 'exploreEventLogs',
        summary: 'Search, with a histogram, the values of fields, and what is special about a part of the result',
        description:
          'All of an answer is of one moment. In groupBy, by and facets, shieldZoneId is a field like the ' +
          `${DIMENSIONS.length} that filters have; each row has its shieldZoneId.`,
        parameters: [ZONES_IN_PATH],
        requestBody: jsonBody('EventLogsExploreRequest', REQUESTS),
        responses: {
          200: answer('What was asked for', 'EventLogsExploreResponse', ANSWERS, SEARCH_ANSWER_TYPES),
        },
        problems: [...SEARCH_PROBLEMS],
      },
    },
    '/shield/event-logs/{shieldZoneId}/rules': {
      get: {
        operationId: 'listActiveRules',
        summary: 'The rules that have events, with their names',
        parameters: [ZONES_IN_PATH, windowEnd('from'), windowEnd('to')],
        responses: {
          200: answer('The rules', 'EventLogsRulesResponse', RULES, SEARCH_ANSWER_TYPES),
        },
        problems: ['access.zone_denied', ...WINDOW_PROBLEMS],
      },
    },
    '/shield/event-logs/zones': {
      get: {
        operationId: 'listActiveZones',
        summary: 'The shield zones that have events, of those that the access key opens',
        parameters: [windowEnd('from'), windowEnd('to')],
        responses: {
          200: answer('The zones', 'EventLogsZonesResponse', ZONES, SEARCH_ANSWER_TYPES),
        },
        problems: [...WINDOW_PROBLEMS],
      },
    },
  },
  schemas: { ...REQUEST_SCHEMAS, ...ANSWER_SCHEMAS },
} as const satisfies DescribedGroup;
