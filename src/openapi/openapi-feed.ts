import { exactly } from '../../edge/operations/json-schema.ts';
import { TEXT_FIELDS } from '../../query/event-fields.ts';
import { MAX_ZONE_PARTS } from '../../query/plan/feed-zones.ts';
import { MAX_LOOKED_AT } from '../../query/plan/wanted-events.ts';
import { DEFAULT_EVENTS, MAX_EVENTS, MAX_WAIT_SECONDS } from '../feed/feed-request.ts';
import { MAX_READERS, MAX_WAITING_READERS } from '../feed/feed-slots.ts';
import { MIN_LINE_BYTES } from '../feed/line-limit.ts';
import { DEFAULT_FEED_FORMAT, FEED_FORMAT_NAMES, FEED_FORMATS, FEED_MEDIA_TYPES, type FeedFormatName } from '../formats/feed-formats.ts';
import {
  answer,
  type DescribedGroup,
  type Examples,
  int32Schema,
  int64Schema,
  integerIn,
  ref,
  textSchema,
  time,
  ZONES_IN_PATH,
} from './openapi-elements.ts';
import { AVAILABILITY_PROBLEMS, KEY_PROBLEMS } from './openapi-problems.ts';

/** What is refused where zones are read on from a cursor. */
const CURSOR_PROBLEMS = [
  'request.invalid',
  ...KEY_PROBLEMS,
  'access.zone_denied',
  'accept.none',
  'feed.cursor_ahead',
  'feed.cursor_expired',
] as const;

/** The schema of an event's line, and its name in the document, by format. */
const EVENT_LINES: Readonly<Record<FeedFormatName, readonly [name: string, schema: object]>> = {
  native: [
    'FeedEvent',
    exactly(
      {
        logId: textSchema,
        shieldZoneId: int32Schema,
        timestamp: time('When it happened'),
        ...Object.fromEntries(TEXT_FIELDS.map((name) => [name, textSchema])),
        log: { type: 'object', description: 'The full request context, as it was sent' },
      },
      TEXT_FIELDS,
    ),
  ],
  ecs: [
    'EcsEvent',
    {
      type: 'object',
      required: ['@timestamp', 'ecs', 'event', 'observer', 'labels'],
      properties: {
        '@timestamp': { type: 'string', format: 'date-time' },
        ecs: { type: 'object', required: ['version'], properties: { version: textSchema } },
        event: { type: 'object', required: ['kind', 'id', 'original'], properties: { id: textSchema, original: textSchema } },
      },
    },
  ],
  ocsf: [
    'OcsfEvent',
    {
      type: 'object',
      required: ['class_uid', 'category_uid', 'activity_id', 'type_uid', 'severity_id', 'time', 'metadata'],
      properties: { class_uid: { const: 4002 }, time: time('When it happened'), metadata: { type: 'object' } },
    },
  ],
  cef: ['CefEvent', { type: 'string', pattern: '^CEF:0\\|' }],
};

const TEXT_LINES = FEED_FORMAT_NAMES.filter((format) => FEED_FORMATS[format].line.kind === 'text').map(
  (format) => `with format=${format} a line of ${format.toUpperCase()} for each event`,
);

/** The schemas of the feed's lines and of the live tail's messages. */
const FEED_SCHEMAS = {
  FeedLine: {
    oneOf: [...FEED_FORMAT_NAMES.map((format) => ref(EVENT_LINES[format][0])), ref('FeedCursor')],
    description: `A JSON object a line; ${TEXT_LINES.join(', ')}`,
  },
  ...Object.fromEntries(
    FEED_FORMAT_NAMES.map((format) => {
      const [name, schema] = EVENT_LINES[format];
      return [name, { ...schema, description: `format=${format}: ${FEED_FORMATS[format].about}` }];
    }),
  ),
  FeedCursor: {
    ...exactly(
      {
        cursor: { ...textSchema, description: 'For the next request' },
        more: { type: 'boolean', description: 'Whether there was more than the limit' },
        count: { ...int64Schema, description: 'Events before this line' },
        incomplete: { ...int64Schema, description: 'Events at most that are left out, because files are damaged or missing' },
        shortened: { ...int64Schema, description: 'Events without their log, because of maxLine' },
        tooLong: { ...int64Schema, description: 'Of those, events whose lines are longer than maxLine all the same' },
      },
      ['incomplete', 'shortened', 'tooLong'],
    ),
    description: 'The last line',
  },
  TailMessage: {
    ...exactly(
      {
        event: { enum: ['ready', 'event', 'dropped'] },
        id: { ...textSchema, description: 'A cursor of the feed, to go on after' },
        data: {
          ...textSchema,
          description:
            'JSON: of ready the cursor, of event a row with its shieldZoneId, of dropped how many were left out, and whether because ' +
            'they were unread or costly',
        },
        retry: { type: 'integer', description: 'Milliseconds to wait before a new connection' },
      },
      ['id', 'retry'],
    ),
    description: 'A message of the stream, as clients of server-sent events read it',
  },
} as const;

const CURSOR = 'AUN9-EAAAAAAAAAAAQAAAABpBSrc';

const EVENT =
  '{"logId":"7f0c5a","shieldZoneId":7,"timestamp":1767228000123,"feature":"waf"' +
  ',"ip":"192.0.2.7","action":"blocked","log":{"RemoteIp":"192.0.2.7"}}';

const LINES: Examples = {
  native: { summary: 'One event, and where to go on', value: `${EVENT}\n{"cursor":"${CURSOR}","more":false,"count":1}\n` },
};

const STREAM: Examples = {
  stream: {
    summary: 'How it begins, and one event',
    value:
      `retry: 2000\nid: ${CURSOR}\nevent: ready\ndata: {"cursor":"${CURSOR}"}\n\nid: ${CURSOR}\nevent: event\ndata: ` +
      `{"logId":"7f0c5a","timestamp":1767228000123,"log":{},"fields":{"action":"blocked"},"shieldZoneId":7}\n\n`,
  },
};

/** The parameter with the conditions of a feed or tail. */
function searchInQuery(further: string) {
  return {
    name: 'search',
    in: 'query',
    description: `The query and filters of a search, and exclude as in an export, as JSON text: only what matches comes${further}`,
    schema: { type: 'string' },
    example: '{"filters":[{"field":"action","op":"eq","value":["blocked"]}]}',
  } as const;
}

const FEED_PATH = '/shield/event-logs/{shieldZoneId}/feed';
const TAIL_PATH = '/shield/event-logs/{shieldZoneId}/tail';

/** The feed and the live tail. */
export const FEED_GROUP = {
  tag: 'Streams',
  about: 'Events in the order in which they were taken in, for other systems and for people',
  paths: {
    [FEED_PATH]: {
      get: {
        operationId: 'readFeed',
        summary: 'Read events in the order in which they were taken in, so that none is missed however late it came',
        description:
          'Accept-Encoding may be zstd or gzip. The last line of a whole answer is its cursor; one without has broken off. Where the ' +
          'line has incomplete, up to so many events are left out, because files of the program are damaged or missing. Of all ' +
          `zones, the header Shield-Zones names those that are covered, or all. At most ${MAX_READERS} requests are answered at ` +
          `once, and ${MAX_WAITING_READERS} more wait for events; one beyond that gets 503 store.busy. A client that reads nothing of ` +
          'what is ready for it is cut off after some minutes.',
        parameters: [
          ZONES_IN_PATH,
          {
            name: 'cursor',
            in: 'query',
            description: 'Of the answer before; now begins with what comes from here on. Left out: the oldest event that is kept',
            schema: { type: 'string', pattern: '^(now|[A-Za-z0-9_-]{28})$' },
          },
          integerIn('query', 'limit', { minimum: 1, maximum: MAX_EVENTS, default: DEFAULT_EVENTS }, 'At most so many events'),
          {
            name: 'format',
            in: 'query',
            description: 'How events are written',
            schema: { enum: FEED_FORMAT_NAMES, default: DEFAULT_FEED_FORMAT },
          },
          integerIn('query', 'wait', { minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 }, 'Seconds to wait for the first event'),
          integerIn(
            'query',
            'maxLine',
            { minimum: MIN_LINE_BYTES },
            'Bytes of a line. An event with a longer one has {"shortenedBytes": N} in place of its log of N bytes, in every format; ' +
              'where its line is longer all the same, it is sent so. Left out: lines of any length',
          ),
          {
            name: 'part',
            in: 'query',
            description:
              `K/N, 1 <= K <= N <= ${MAX_ZONE_PARTS}: of the zones asked for, those whose number modulo N, which is never negative, is ` +
              'K - 1. So N readers share the zones, also those that are new. A cursor means the same for every part',
            schema: { type: 'string', pattern: '^[0-9]{1,4}/[0-9]{1,4}$' },
            example: '2/4',
          },
          searchInQuery(
            `; an answer ends after about ${MAX_LOOKED_AT} events were looked at, and more is true then. A cursor means the same with it ` +
              'and without',
          ),
        ],
        responses: {
          200: answer('A line for each event, and one with the cursor', 'FeedLine', LINES, FEED_MEDIA_TYPES),
        },
        problems: [...CURSOR_PROBLEMS, 'search.deadline', ...AVAILABILITY_PROBLEMS],
      },
    },
    [TAIL_PATH]: {
      get: {
        operationId: 'tailEvents',
        summary: 'See events as they come, as server-sent events',
        description:
          'Messages: ready, event (a row and its shieldZoneId) and dropped (events that were left out because the client did not read, ' +
          'or its conditions cost too much). Ids are cursors of the feed; the header Last-Event-ID goes on after one.',
        parameters: [
          ZONES_IN_PATH,
          searchInQuery(''),
          {
            name: 'lastEventId',
            in: 'query',
            description: 'As the header Last-Event-ID, which goes before it',
            schema: { type: 'string' },
          },
        ],
        responses: {
          200: {
            description: 'A stream that goes on until the client ends it',
            content: {
              'text/event-stream': {
                schema: { anyOf: [ref('TailMessage'), { type: 'string', description: 'The text of the stream' }] },
                examples: STREAM,
              },
            },
          },
        },
        problems: [...CURSOR_PROBLEMS, 'store.unavailable', 'tail.full', 'program.stopping'],
      },
    },
  },
  schemas: FEED_SCHEMAS,
} as const satisfies DescribedGroup;
