import { exactly, listOf } from '../../edge/operations/json-schema.ts';
import { MOST_BULK_ITEMS } from '../../ingest/doors/bulk.ts';
import { JSON_TYPES } from '../http/content-negotiation.ts';
import { BULK_TYPES, elasticsearchError } from '../http/elasticsearch-answers.ts';
import { DOOR_BODY_BYTES } from '../http/request-body.ts';
import { DOOR_BODY, DOOR_KEY, DOOR_MAPPING, DOORS_TAG, doorErrors, SHOWN_EVENT } from './openapi-door-words.ts';
import { answer, content, type DescribedGroup, type Examples, int64Schema, OPEN, ref, textSchema, time } from './openapi-elements.ts';
import { OTLP_PATHS, OTLP_SCHEMAS } from './openapi-otlp.ts';
import { DEFECT, STATUS_HEADERS } from './openapi-problems.ts';

const DOOR_SCHEMAS = {
  HecAnswer: exactly(
    {
      text: textSchema,
      code: { ...int64Schema, description: "Splunk's number of the text; 0 is success" },
      'invalid-event-number': { ...int64Schema, description: 'The first object or line that is wrong, counted from 0' },
      ackId: { ...int64Schema, description: 'For a request with a channel' },
    },
    ['invalid-event-number', 'ackId'],
  ),
  HecEvent: {
    type: 'object',
    required: ['event'],
    properties: { event: { anyOf: [ref('Event'), textSchema], description: 'An event of our own, or a text that is the JSON of one' } },
    description: 'All other members are passed over. Several stand back to back',
  },
  HecPoll: {
    type: 'object',
    required: ['acks'],
    properties: { acks: listOf({ ...int64Schema, minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) },
  },
  BulkAnswer: exactly({
    took: { ...int64Schema, description: 'Milliseconds' },
    errors: { type: 'boolean', description: 'Whether an item has an error' },
    items: listOf({
      type: 'object',
      additionalProperties: exactly(
        {
          _index: textSchema,
          status: int64Schema,
          result: textSchema,
          error: exactly({ type: textSchema, reason: textSchema }),
        },
        ['result', 'error'],
      ),
    }),
  }),
  BulkError: exactly({
    error: exactly({ root_cause: listOf(exactly({ type: textSchema, reason: textSchema })), type: textSchema, reason: textSchema }),
    status: int64Schema,
  }),
  BulkLicense: exactly({ license: { type: 'object', additionalProperties: { type: 'string' } } }),
  FirehoseRequest: {
    type: 'object',
    required: ['records'],
    properties: {
      requestId: textSchema,
      timestamp: int64Schema,
      records: listOf({
        type: 'object',
        required: ['data'],
        properties: { data: { ...textSchema, pattern: '^[A-Za-z0-9+/]*={0,2}$', description: 'Base64 of lines, or of gzip of lines' } },
      }),
    },
  },
  FirehoseAnswer: exactly(
    {
      requestId: { ...textSchema, description: 'That of the header X-Amz-Firehose-Request-Id' },
      timestamp: time('When it was answered'),
      errorMessage: textSchema,
    },
    ['errorMessage'],
  ),
  HecAcknowledgements: exactly({ acks: { type: 'object', additionalProperties: { type: 'boolean' } } }),
} as const;

const HEC_EVENTS: Examples = {
  events: {
    summary: 'Two events back to back',
    value: `{"time":1767228000.123,"event":${SHOWN_EVENT}}{"event":${JSON.stringify(SHOWN_EVENT)}}`,
  },
};
const HEC_LINES: Examples = { lines: { summary: 'An event a line', value: `${SHOWN_EVENT}\n` } };
const HEC_EVENT: Examples = { event: { summary: 'One event', value: { event: JSON.parse(SHOWN_EVENT) } } };
const HEC_POLL: Examples = { poll: { summary: 'Two of them', value: { acks: [1_767_228_000_123_000, 1_767_228_000_123_001] } } };

function hec(description: string, examples: Readonly<Record<string, object>>) {
  const named = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { summary: name, value }]));
  return answer(description, 'HecAnswer', named);
}

/** The errors of a request with a body, in the answers of Splunk. */
const HEC_ERRORS = {
  400: hec('Nothing is stored, or all records are dead letters', {
    'no data': { text: 'No data', code: 5 },
    'no event': { text: 'Event field is required: the object 3 has no "event"', code: 12, 'invalid-event-number': 3 },
    'all are letters': { text: 'Invalid data format: timestamp is missing', code: 6, 'invalid-event-number': 0 },
  }),
  401: {
    ...hec('A key is needed', {
      missing: { text: 'Token is required: The AccessKey header is missing', code: 2 },
      'another scheme': { text: 'Invalid authorization: The AccessKey header is missing', code: 3 },
    }),
    ...STATUS_HEADERS[401],
  },
  403: hec('The key is not known, or does not open this', { unknown: { text: 'Invalid token: The request holds no key', code: 4 } }),
  408: hec('The body did not arrive in time', { late: { text: 'Invalid data format: the request body did not arrive whole', code: 6 } }),
  413: hec('The body is too large', { large: { text: `Invalid data format: at most ${DOOR_BODY_BYTES} bytes`, code: 6 } }),
  415: hec('The compression is not supported', { encoding: { text: 'Invalid data format: Content-Encoding: br', code: 6 } }),
  503: {
    ...hec('There is no room, no disk, or the program is stopping', { busy: { text: 'Server is busy: The store is behind', code: 9 } }),
    ...STATUS_HEADERS[503],
  },
};

const TEXT_TYPES = ['text/plain', 'application/x-www-form-urlencoded'];
const EVENT_BODIES = { ...content(['application/json'], ref('HecEvent'), HEC_EVENT), ...content(TEXT_TYPES, textSchema, HEC_EVENTS) };
const LINE_BODIES = content(TEXT_TYPES, textSchema, HEC_LINES);
const POLL_BODIES = content(['application/json'], ref('HecPoll'), HEC_POLL);

function hecPost(operationId: string, summary: string, bodies: object, success: object) {
  return {
    post: {
      operationId,
      summary,
      description: `Any content type is taken. ${DOOR_BODY} ${DOOR_MAPPING} ${DOOR_KEY}`,
      requestBody: { content: bodies },
      responses: { ...success, ...HEC_ERRORS },
    },
  };
}

const STORED = {
  200: hec('All are on the disk, as events or dead letters', { success: { text: 'Success', code: 0, ackId: 1_767_228_000_123_000 } }),
  ...DEFECT,
};
const ACKNOWLEDGED = {
  200: answer('All that were asked about', 'HecAcknowledgements', {
    both: { summary: 'Both', value: { acks: { '1767228000123000': true, '1767228000123001': true } } },
  }),
};

const BULK_ANSWER_TYPES = ['application/json', 'application/vnd.elasticsearch+json'];

function bulkError(status: number, description: string, reason: string) {
  const value = elasticsearchError(status, reason);
  return answer(description, 'BulkError', { [value.error.type]: { summary: reason, value } }, BULK_ANSWER_TYPES);
}

const BULK_LINES: Examples = {
  one: { summary: 'One event', value: `{"index":{"_index":"logs"}}\n${SHOWN_EVENT}\n` },
};
/** A body of several lines is no JSON, whatever its type says. */
const BULK_LINE: Examples = { action: { summary: 'A line of a request', value: { delete: { _index: 'logs' } } } };

const [BULK_NDJSON, BULK_JSON] = [
  BULK_TYPES.filter((type) => type.endsWith('ndjson')),
  BULK_TYPES.filter((type) => !type.endsWith('ndjson')),
];

function bulk(operationId: string, inIndex: boolean) {
  const index = { name: 'index', in: 'path', required: true, description: 'Shown in the answer', schema: textSchema, example: 'logs' };
  return {
    operationId,
    summary: "Take in documents as Elasticsearch's bulk requests have them",
    description: `Actions and documents on lines. ${DOOR_BODY} At most ${MOST_BULK_ITEMS} items. ${DOOR_MAPPING} ${DOOR_KEY}`,
    ...(inIndex ? { parameters: [index] } : {}),
    requestBody: {
      required: true,
      content: { ...content(BULK_NDJSON, textSchema, BULK_LINES), ...content(BULK_JSON, { type: 'object' }, BULK_LINE) },
    },
    responses: {
      200: answer(
        'All of status 201 are on the disk, as events or dead letters; where all documents are dead letters, each has the status 400',
        'BulkAnswer',
        {
          stored: {
            summary: 'One',
            value: { took: 3, errors: false, items: [{ index: { _index: 'logs', status: 201, result: 'created' } }] },
          },
        },
        BULK_ANSWER_TYPES,
      ),
      ...doorErrors(bulkError, 429),
      400: bulkError(400, 'Nothing is stored', 'item 0: its document is a blank line'),
    },
  };
}

function firehose(description: string, name: string, errorMessage?: string) {
  const value = {
    requestId: FIREHOSE_REQUEST.requestId,
    timestamp: 1_767_228_000_456,
    ...(errorMessage === undefined ? {} : { errorMessage }),
  };
  return answer(description, 'FirehoseAnswer', { [name]: { summary: name, value } });
}

const FIREHOSE_REQUEST = {
  requestId: 'ed4acda5-034f-9f42-bba1-f29aea6d7d8f',
  timestamp: 1_767_228_000_123,
  records: [{ data: Buffer.from(SHOWN_EVENT).toString('base64') }],
};

/** The doors of other products' shippers, each in the words of its protocol. */
export const DOORS_GROUP = {
  tag: DOORS_TAG,
  about: "Where other products' shippers send to, each in its own protocol",
  paths: {
    '/ingest/firehose': {
      post: {
        operationId: 'sendFromFirehose',
        summary: 'Take in the records of Amazon Data Firehose',
        description: `${DOOR_BODY} ${DOOR_MAPPING} ${DOOR_KEY} X-Amz-Firehose-Access-Key is another place of it.`,
        requestBody: {
          required: true,
          content: content(JSON_TYPES, ref('FirehoseRequest'), { one: { summary: 'One event', value: FIREHOSE_REQUEST } }),
        },
        responses: {
          200: firehose('All are on the disk, as events or dead letters', 'stored'),
          ...doorErrors((_status, description, message) => firehose(description, 'refused', message)),
        },
      },
    },
    ...OTLP_PATHS,
    '/_bulk': { post: bulk('bulk', false), put: bulk('bulkByPut', false) },
    '/{index}/_bulk': { post: bulk('bulkOfIndex', true), put: bulk('bulkOfIndexByPut', true) },
    '/_license': {
      get: {
        operationId: 'getBulkLicense',
        summary: 'Tell clients of Elasticsearch that there is a license',
        ...OPEN,
        responses: {
          200: answer('A basic one', 'BulkLicense', {
            basic: { summary: 'Basic', value: { license: { status: 'active', type: 'basic' } } },
          }),
          403: bulkError(403, 'A web page elsewhere asks', 'Origin: https://elsewhere.example'),
          429: { ...bulkError(429, 'The program is stopping', 'The program is stopping'), ...STATUS_HEADERS[429] },
        },
      },
    },
    '/_cat/health': {
      get: {
        operationId: 'getBulkHealth',
        summary: 'Tell clients of Elasticsearch whether documents are taken in',
        ...OPEN,
        responses: {
          200: {
            description: 'They are',
            content: content(['text/plain'], textSchema, { green: { summary: 'Green', value: 'shieldlog green\n' } }),
          },
          403: bulkError(403, 'A web page elsewhere asks', 'Origin: https://elsewhere.example'),
          429: { ...bulkError(429, 'They are not', 'nothing can be stored now'), ...STATUS_HEADERS[429] },
        },
      },
    },
    '/services/collector': hecPost('sendToCollector', "Take in events as Splunk's HTTP event collector does", EVENT_BODIES, STORED),
    '/services/collector/event': hecPost('sendEventsToCollector', 'The same', EVENT_BODIES, STORED),
    '/services/collector/event/1.0': hecPost('sendEventsToCollector10', 'The same', EVENT_BODIES, STORED),
    '/services/collector/raw': hecPost('sendLinesToCollector', 'Take in lines, each of which is an event', LINE_BODIES, STORED),
    '/services/collector/raw/1.0': hecPost('sendLinesToCollector10', 'The same', LINE_BODIES, STORED),
    '/services/collector/ack': hecPost('askCollector', 'Ask whether what was answered is on the disk: it is', POLL_BODIES, ACKNOWLEDGED),
    '/services/collector/health': {
      get: {
        operationId: 'getCollectorHealth',
        summary: 'Tell whether events are taken in',
        ...OPEN,
        responses: {
          200: hec('They are', { healthy: { text: 'HEC is healthy', code: 17 } }),
          403: hec('A web page elsewhere asks', { page: { text: 'Invalid token: Origin: https://elsewhere.example', code: 4 } }),
          503: { ...hec('They are not', { unhealthy: { text: 'HEC is unhealthy', code: 18 } }), ...STATUS_HEADERS[503] },
        },
      },
    },
  },
  schemas: { ...DOOR_SCHEMAS, ...OTLP_SCHEMAS },
} as const satisfies DescribedGroup;
