import { TEXT_FIELDS } from '../../query/event-fields.ts';
import { ref } from './openapi-content.ts';
import { exactly, int32, int64, text, time } from './openapi-values.ts';

/** The lines of the feed, by its formats. */
export const FEED_SCHEMAS = {
  FeedLine: {
    oneOf: [ref('FeedEvent'), ref('EcsEvent'), ref('OcsfEvent'), ref('CefEvent'), ref('FeedCursor')],
    description: 'A JSON object a line; with format=cef a line of CEF for each event',
  },
  FeedEvent: {
    ...exactly(
      {
        logId: text,
        shieldZoneId: int32,
        timestamp: time('When it happened'),
        ...Object.fromEntries(TEXT_FIELDS.map((name) => [name, text])),
        log: { type: 'object', description: 'The full request context, as it was sent' },
      },
      TEXT_FIELDS,
    ),
    description: 'format=native: as the intake takes it',
  },
  EcsEvent: {
    type: 'object',
    required: ['@timestamp', 'ecs', 'event', 'observer', 'labels'],
    properties: {
      '@timestamp': { type: 'string', format: 'date-time' },
      ecs: { type: 'object', required: ['version'], properties: { version: text } },
      event: { type: 'object', required: ['kind', 'id', 'original'], properties: { id: text, original: text } },
    },
    description: 'format=ecs: the Elastic Common Schema',
  },
  OcsfEvent: {
    type: 'object',
    required: ['class_uid', 'category_uid', 'activity_id', 'type_uid', 'severity_id', 'time', 'metadata'],
    properties: { class_uid: { const: 4002 }, time: time('When it happened'), metadata: { type: 'object' } },
    description: 'format=ocsf: HTTP Activity (4002) with the profile security_control',
  },
  CefEvent: { type: 'string', pattern: '^CEF:0\\|', description: 'format=cef: the Common Event Format' },
  FeedCursor: {
    ...exactly({
      cursor: { ...text, description: 'For the next request' },
      more: { type: 'boolean', description: 'Whether there was more than the limit' },
      count: { ...int64, description: 'Events before this line' },
    }),
    description: 'The last line',
  },
  TailMessage: {
    ...exactly(
      {
        event: { enum: ['ready', 'event', 'dropped'] },
        id: { ...text, description: 'A cursor of the feed, to go on after' },
        data: {
          ...text,
          description:
            'JSON: of ready the cursor, of event a row with its shieldZoneId, of dropped how many were left out, and whether because they were unread or costly',
        },
        retry: { type: 'integer', description: 'Milliseconds to wait before a new connection' },
      },
      ['id', 'retry'],
    ),
    description: 'A message of the stream, as clients of server-sent events read it',
  },
} as const;
