import { JSON_TYPES, SEARCH_ANSWER_TYPES } from '../http/content-negotiation.ts';
import { answer, content, type DescribedGroup, integerIn, ref } from './openapi-content.ts';
import { DEFECT, KEY_PROBLEMS, problems } from './openapi-problems.ts';
import { SEARCH_SCHEMAS } from './openapi-search-schemas.ts';
import { INT32_RANGE } from './openapi-values.ts';

const PATH = '/shield/event-logs/{shieldZoneId}/search';

/** A window of an hour; requests of today name one of the last 72 hours. */
const WINDOW = { from: 1_767_225_600_000, to: 1_767_229_200_000 };
const SUCCEEDED = { statusCode: 200, success: true, message: null, errorKey: null };

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

/** Operation 1. */
export const SEARCH_GROUP = {
  tag: { name: 'Event logs', description: 'What happened in a shield zone' },
  paths: {
    [PATH]: {
      post: {
        operationId: 'searchEventLogs',
        tags: ['Event logs'],
        summary: 'Search, filter and group the event logs of a shield zone',
        description: 'Operation 1. Of a zone that no event was ever sent for, nothing is found.',
        parameters: [integerIn('path', 'shieldZoneId', INT32_RANGE, 'The shield zone', 7)],
        requestBody: { required: true, content: content(JSON_TYPES, ref('EventLogsSearchRequest'), REQUESTS) },
        responses: {
          200: answer('Rows, or groups where groupBy was given', 'EventLogsSearchResponse', ANSWERS, SEARCH_ANSWER_TYPES),
          ...problems(
            '/shield/event-logs/7/search',
            'request.malformed',
            'request.invalid',
            ...KEY_PROBLEMS,
            'access.zone_denied',
            'accept.none',
            'request.timeout',
            'body.too_large',
            'body.unsupported_type',
            'search.deadline',
            'store.busy',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
  },
  schemas: SEARCH_SCHEMAS,
} as const satisfies DescribedGroup;
