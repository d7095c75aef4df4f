import { JSON_TYPES, LINE_TYPES, SEARCH_ANSWER_TYPES } from './content-negotiation.ts';
import { SCHEMAS } from './openapi-schemas.ts';
import { PROBLEM_CONTENT_TYPE } from './problem.ts';

type SchemaName = keyof typeof SCHEMAS;

const ref = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });
const content = (types: readonly string[], schema: object) => Object.fromEntries(types.map((type) => [type, { schema }]));
const answer = (description: string, name: SchemaName, types: readonly string[] = ['application/json']) => ({
  description,
  content: content(types, ref(name)),
});

const PROBLEM_TYPE = PROBLEM_CONTENT_TYPE.split(';', 1)[0] ?? PROBLEM_CONTENT_TYPE;

const PROBLEM_WORDS = {
  400: 'The request is wrong; errors names each wrong thing by its JSON path',
  401: 'The access key is missing or unknown',
  403: 'The access key does not open the zone',
  406: 'No acceptable content type',
  408: 'The body did not arrive in time',
  413: 'The body is too large',
  415: 'The content type or encoding is not supported',
  503: 'Interrupted, overloaded, unable to store or stopping; Retry-After says when to try again',
} as const;

const problem = (description: string) => answer(description, 'ProblemDetails', [PROBLEM_TYPE]);
const problems = (...statuses: readonly (keyof typeof PROBLEM_WORDS)[]) => ({
  ...Object.fromEntries(statuses.map((status) => [status, problem(PROBLEM_WORDS[status])])),
  500: { description: 'A defect; no body' },
  default: problem('Whatever else is wrong with a request'),
});

const integerIn = (place: 'path' | 'query', name: string, schema: object) => ({
  name,
  in: place,
  required: place === 'path',
  schema: { type: 'integer', ...schema },
});

const open = { security: [] };

/** The OpenAPI description of what this program serves. */
export const OPENAPI_DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'shieldlog',
    version: '0.1.0',
    description: 'Event-log analytics for edge security events',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ AccessKey: [] }],
  paths: {
    '/shield/event-logs/{shieldZoneId}/search': {
      post: {
        operationId: 'searchEventLogs',
        summary: 'Search, filter and group the event logs of a shield zone',
        parameters: [integerIn('path', 'shieldZoneId', { format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 })],
        requestBody: { required: true, content: content(JSON_TYPES, ref('EventLogsSearchRequest')) },
        responses: {
          200: answer('Rows, or groups where groupBy was given', 'EventLogsSearchResponse', SEARCH_ANSWER_TYPES),
          ...problems(400, 401, 403, 406, 408, 413, 415, 503),
        },
      },
    },
    '/ingest/events': {
      post: {
        operationId: 'ingestEvents',
        summary: 'Take in events, as NDJSON or a JSON array of any length',
        description: 'Content-Encoding may be gzip or zstd. Sending the same events again stores nothing twice.',
        parameters: [{ name: 'source', in: 'query', schema: { enum: ['http', 'file'], default: 'http' } }],
        requestBody: {
          description: 'One event a line, or one JSON array: the first byte tells, whatever the type says. The type may be left out',
          content: {
            ...content(LINE_TYPES, ref('Event')),
            ...content(JSON_TYPES, { anyOf: [{ type: 'array', items: ref('Event') }, ref('Event')] }),
          },
        },
        responses: {
          202: answer('All accepted events are on disk and searchable', 'IntakeReport'),
          ...problems(400, 401, 403, 406, 408, 413, 415, 503),
        },
      },
    },
    '/ingest/dead-letters': {
      get: {
        operationId: 'listDeadLetters',
        summary: 'List the messages that could not become events',
        parameters: [
          integerIn('query', 'afterId', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
          integerIn('query', 'limit', { minimum: 1, maximum: 10_000, default: 100 }),
        ],
        responses: { 200: answer('In the order of their ids', 'DeadLetterList'), ...problems(400, 401, 403, 503) },
      },
    },
    '/ingest/dead-letters/replay': {
      post: {
        operationId: 'replayDeadLetters',
        summary: 'Try dead letters once more: all, or those named',
        requestBody: { description: 'None, or an empty one: all', content: content(JSON_TYPES, ref('ReplayRequest')) },
        responses: { 200: answer('What became of them', 'ReplayReport'), ...problems(400, 401, 403, 408, 413, 415, 503) },
      },
    },
    '/healthz': {
      get: {
        operationId: 'isAlive',
        summary: 'The process answers',
        ...open,
        responses: { 200: { description: 'Alive' }, ...problems(403) },
      },
    },
    '/readyz': {
      get: {
        operationId: 'isReady',
        summary: 'The program serves and takes in what it is set up to',
        ...open,
        responses: { 200: answer('Ready', 'Readiness'), ...problems(403), 503: answer('Not ready, with the reasons', 'Readiness') },
      },
    },
    '/metrics': {
      get: {
        operationId: 'metrics',
        summary: "Metrics in Prometheus' text format; no key is needed while the program listens on loopback",
        responses: { 200: { description: 'Metrics', content: content(['text/plain'], { type: 'string' }) }, ...problems(401, 403, 503) },
      },
    },
  },
  components: {
    securitySchemes: { AccessKey: { type: 'apiKey', in: 'header', name: 'AccessKey' } },
    schemas: SCHEMAS,
  },
} as const;
