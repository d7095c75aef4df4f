import { exactly, listOf } from '../../edge/operations/json-schema.ts';
import { DOOR_BODY_BYTES } from '../http/request-body.ts';
import { answer, content, type DescribedGroup, type Examples, int64Schema, OPEN, ref, shownBytes, textSchema } from './openapi-elements.ts';
import { DEFECT, STATUS_HEADERS } from './openapi-problems.ts';

const TAG = 'Doors';
const BODY = `Content-Encoding may be gzip or zstd. At most ${shownBytes(DOOR_BODY_BYTES)}, decompressed.`;

const KEY = 'A key may also come as Authorization, of the scheme Splunk, Bearer or Basic.';
const MAPPED = 'Records of another product become events by ?mapping= and &zone=, as at /ingest/events; other parameters are passed over.';

const DOOR_SCHEMAS = {
  HecAnswer: exactly(
    {
      text: textSchema,
      code: { ...int64Schema, description: "Splunk's number of the text; 0 is success" },
      'invalid-event-number': { ...int64Schema, description: 'The first event that is wrong, counted from 0' },
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
  HecAcknowledgements: exactly({ acks: { type: 'object', additionalProperties: { type: 'boolean' } } }),
} as const;

const EVENT = '{"shieldZoneId":7,"timestamp":1767228000123,"action":"blocked"}';
const HEC_EVENTS: Examples = {
  events: { summary: 'Two events back to back', value: `{"time":1767228000.123,"event":${EVENT}}{"event":${JSON.stringify(EVENT)}}` },
};
const HEC_LINES: Examples = { lines: { summary: 'An event a line', value: `${EVENT}\n` } };
const HEC_EVENT: Examples = { event: { summary: 'One event', value: { event: JSON.parse(EVENT) } } };
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
      tags: [TAG],
      summary,
      description: `Any content type is taken. ${BODY} ${MAPPED} ${KEY}`,
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

/** The doors of other products' shippers, each in the words of its protocol. */
export const DOORS_GROUP = {
  tag: { name: TAG, description: "Where other products' shippers send to, each in its own protocol" },
  paths: {
    '/services/collector': hecPost('sendToCollector', "Take in events as Splunk's HTTP event collector does", EVENT_BODIES, STORED),
    '/services/collector/event': hecPost('sendEventsToCollector', 'The same', EVENT_BODIES, STORED),
    '/services/collector/event/1.0': hecPost('sendEventsToCollector10', 'The same', EVENT_BODIES, STORED),
    '/services/collector/raw': hecPost('sendLinesToCollector', 'Take in lines, each of which is an event', LINE_BODIES, STORED),
    '/services/collector/raw/1.0': hecPost('sendLinesToCollector10', 'The same', LINE_BODIES, STORED),
    '/services/collector/ack': hecPost('askCollector', 'Ask whether what was answered is on the disk: it is', POLL_BODIES, ACKNOWLEDGED),
    '/services/collector/health': {
      get: {
        operationId: 'getCollectorHealth',
        tags: [TAG],
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
  schemas: DOOR_SCHEMAS,
} as const satisfies DescribedGroup;
