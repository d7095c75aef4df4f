import { READERS_AT_ONCE, WAITING_AT_ONCE } from '../feed/feed-places.ts';
import { DEFAULT_EVENTS, FEED_TYPES, LONGEST_WAIT, MAX_EVENTS } from '../feed/feed-query.ts';
import { FEED_FORMATS } from '../formats/feed-format.ts';
import { answer, type DescribedGroup, type Examples, integerIn, ref } from './openapi-content.ts';
import { FEED_SCHEMAS } from './openapi-feed-schemas.ts';
import { DEFECT, KEY_PROBLEMS, problems } from './openapi-problems.ts';

/** In the path of the feed and the live tail. */
const ZONES = {
  name: 'shieldZoneId',
  in: 'path',
  required: true,
  description: 'The shield zone, or several with commas between, or all, which are those that the access key opens',
  schema: { type: 'string', pattern: '^(all|-?\\d{1,10}(,-?\\d{1,10})*)$' },
  example: '7',
};

const CURSOR = 'AUN9-EAAAAAAAAAAAQAAAABpBSrc';

const EVENT =
  '{"logId":"7f0c5a","shieldZoneId":7,"timestamp":1767228000123,"feature":"waf","ip":"192.0.2.7","action":"blocked","log":{"RemoteIp":"192.0.2.7"}}';

const LINES: Examples = {
  native: { summary: 'One event, and where to go on', value: `${EVENT}\n{"cursor":"${CURSOR}","more":false,"count":1}\n` },
};

const STREAM: Examples = {
  stream: {
    summary: 'How it begins, and one event',
    value: `retry: 2000\nid: ${CURSOR}\nevent: ready\ndata: {"cursor":"${CURSOR}"}\n\nid: ${CURSOR}\nevent: event\ndata: {"logId":"7f0c5a","timestamp":1767228000123,"log":{},"fields":{"action":"blocked"},"shieldZoneId":7}\n\n`,
  },
};

const FEED_PATH = '/shield/event-logs/{shieldZoneId}/feed';
const TAIL_PATH = '/shield/event-logs/{shieldZoneId}/tail';

/** The feed and the live tail. */
export const FEED_GROUP = {
  tag: { name: 'Streams', description: 'Events in the order in which they were taken in, for other systems and for people' },
  paths: {
    [FEED_PATH]: {
      get: {
        operationId: 'readFeed',
        tags: ['Streams'],
        summary: 'Read events in the order in which they were taken in, so that none is missed however late it came',
        description: `Accept-Encoding may be zstd or gzip. The last line of a whole answer is its cursor; one without has broken off. Of all zones, the header Shield-Zones names those that are covered, or all. At most ${READERS_AT_ONCE} requests are answered at once, and ${WAITING_AT_ONCE} more wait for events; one beyond that gets 503 store.busy. A client that reads nothing of what is ready for it is cut off after some minutes.`,
        parameters: [
          ZONES,
          {
            name: 'cursor',
            in: 'query',
            description: 'Of the answer before; now begins with what comes from here on. Left out: the oldest event that is kept',
            schema: { type: 'string', pattern: '^(now|[A-Za-z0-9_-]{28})$' },
          },
          integerIn('query', 'limit', { minimum: 1, maximum: MAX_EVENTS, default: DEFAULT_EVENTS }, 'At most so many events'),
          { name: 'format', in: 'query', description: 'How events are written', schema: { enum: FEED_FORMATS, default: 'native' } },
          integerIn('query', 'wait', { minimum: 0, maximum: LONGEST_WAIT, default: 0 }, 'Seconds to wait for the first event'),
        ],
        responses: {
          200: answer('A line for each event, and one with the cursor', 'FeedLine', LINES, FEED_TYPES),
          ...problems(
            '/shield/event-logs/7/feed',
            'request.invalid',
            ...KEY_PROBLEMS,
            'access.zone_denied',
            'accept.none',
            'feed.cursor_expired',
            'search.deadline',
            'store.busy',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
    [TAIL_PATH]: {
      get: {
        operationId: 'tailEvents',
        tags: ['Streams'],
        summary: 'See events as they come, as server-sent events',
        description:
          'Messages: ready, event (a row and its shieldZoneId) and dropped (events that were left out because the client did not read, or its conditions cost too much). Ids are cursors of the feed; the header Last-Event-ID goes on after one.',
        parameters: [
          ZONES,
          {
            name: 'search',
            in: 'query',
            description: 'The query and filters of a search, as JSON text: only what matches comes',
            schema: { type: 'string' },
            example: '{"filters":[{"field":"action","op":"eq","value":["blocked"]}]}',
          },
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
          ...problems(
            '/shield/event-logs/7/tail',
            'request.invalid',
            ...KEY_PROBLEMS,
            'access.zone_denied',
            'accept.none',
            'feed.cursor_expired',
            'tail.full',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
  },
  schemas: FEED_SCHEMAS,
} as const satisfies DescribedGroup;
