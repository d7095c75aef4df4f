import { exactly, listOf } from '../../edge/operations/json-schema.ts';
import { CLOCK_TOLERANCE_MS, LARGEST_EVENT_BYTES, LARGEST_REST_BYTES } from '../../ingest/event/event-verdict.ts';
import { LONGEST_LOG_ID_BYTES } from '../../ingest/event/log-id.ts';
import { MAX_REJECTED, MAX_REJECTED_LISTED } from '../../ingest/upload/intake-report.ts';
import { NUMBER_FIELDS, TEXT_FIELDS } from '../../query/event-fields.ts';
import { CONFIG_VARIABLES } from '../config/config-table.ts';
import { JSON_TYPES, LINE_TYPES } from '../http/content-negotiation.ts';
import { LETTER_PATHS, LETTER_SCHEMAS } from './openapi-dead-letters.ts';
import {
  answer,
  content,
  type DescribedGroup,
  type Examples,
  int32Schema,
  int64Schema,
  nullableText,
  ref,
  shownBytes,
  shownCount,
  textSchema,
  time,
} from './openapi-elements.ts';
import { INGEST_PARAMETERS } from './openapi-ingest-parameters.ts';
import { AVAILABILITY_PROBLEMS, KEY_PROBLEMS } from './openapi-problems.ts';

const LISTED = shownCount(MAX_REJECTED_LISTED);

/** A number is the text of its digits. */
const NUMBER_OR_TEXT = { anyOf: [textSchema, { type: 'number' }, { type: 'null' }] };

const INGEST_SCHEMAS = {
  Event: {
    type: 'object',
    required: ['shieldZoneId', 'timestamp'],
    properties: {
      logId: {
        anyOf: [{ ...textSchema, minLength: 1, maxLength: LONGEST_LOG_ID_BYTES }, { type: 'number' }, { type: 'null' }],
        description: `Unique; 1 to ${LONGEST_LOG_ID_BYTES} bytes of UTF-8. Without one it is made of the event's own bytes`,
      },
      shieldZoneId: { anyOf: [int32Schema, { type: 'string', pattern: '^0*[0-9]{1,9}$', description: 'The same in digits' }] },
      timestamp: {
        anyOf: [
          time('When it happened'),
          { type: 'string', format: 'date-time', description: 'ISO 8601 with a zone' },
          { type: 'string', pattern: '^0*[0-9]{1,15}$', description: 'Unix milliseconds in digits' },
        ],
      },
      ...Object.fromEntries(TEXT_FIELDS.map((name) => [name, NUMBER_FIELDS.has(name) ? NUMBER_OR_TEXT : nullableText])),
      asn: {
        anyOf: [{ type: 'string', pattern: '^(([Aa][Ss])?[0-9]+)?$' }, { type: 'integer', minimum: 0 }, { type: 'null' }],
        description: 'Decimal digits, as a number or a text, which may begin with AS; "" is none',
      },
      log: { type: ['object', 'null'], description: 'The request as it was. Without one the whole event is the log' },
    },
    description:
      `Members with other names belong to the log. At most ${shownBytes(LARGEST_EVENT_BYTES)}, with a log as much in there and ` +
      `${shownBytes(LARGEST_REST_BYTES)} beside it, and not more than ` +
      `${CLOCK_TOLERANCE_MS / 60_000} minutes in the future`,
  },
  IntakeReport: exactly(
    {
      accepted: { ...int64Schema, description: 'On disk and searchable, those that were stored already among them' },
      duplicates: {
        type: ['integer', 'null'],
        format: 'int64',
        description:
          'How many of the accepted were stored already, by an earlier request or earlier in this one; null where that is found out later',
      },
      expired: { ...int64Schema, description: 'Older than the retention' },
      repaired: {
        ...int64Schema,
        description:
          'How many of the accepted had bytes in their texts that are no UTF-8, or halves of surrogate pairs, which became U+FFFD; ' +
          'or an ip with a port or blanks around it, which are not stored',
      },
      rejected: {
        ...listOf(
          exactly(
            {
              index: { ...int64Schema, description: 'Which event it is, counted from 0' },
              line: { ...int64Schema, description: 'The line of the decompressed body that it begins in, counted from 1' },
              reason: textSchema,
              kept: {
                type: 'boolean',
                enum: [false],
                description: 'Only where it is not kept as a dead letter: DEAD_LETTER_MAX_MB is used up',
              },
            },
            ['kept'],
          ),
        ),
        maxItems: MAX_REJECTED,
        description: `The first ${LISTED} that became no events, and all that are not kept; the others are dead letters`,
      },
      rejectedCount: { ...int64Schema, description: 'How many became no events, also those that `rejected` does not list' },
      leftOut: { ...int64Schema, description: 'Only with `mapping`: how many records the mapping leaves out' },
    },
    ['leftOut'],
  ),
} as const;

const EVENT = {
  logId: '7f0c5a',
  shieldZoneId: 7,
  timestamp: 1_767_228_000_123,
  feature: 'waf',
  ruleId: '942100',
  ruleName: 'SQL injection',
  ip: '192.0.2.7',
  ua: 'curl/8.9',
  url: 'https://shop.example/login',
  asn: 'AS64500',
  country: 'CH',
  action: 'blocked',
  log: { RemoteIp: '192.0.2.7', Headers: [{ Name: 'Host', Value: 'shop.example' }] },
};
const SMALL_EVENT = { shieldZoneId: 7, timestamp: '2026-01-01T00:40:01.5Z', action: 'logged' };

const LINES: Examples = {
  lines: { summary: 'One event a line', value: `${JSON.stringify(EVENT)}\n${JSON.stringify(SMALL_EVENT)}\n` },
};
const ARRAY: Examples = {
  array: { summary: 'Several events', value: [EVENT, SMALL_EVENT] },
  one: { summary: 'One event', value: SMALL_EVENT },
};

const REPORT: Examples = {
  report: {
    summary: 'Two taken in, one of them a second time, one too old, one no event',
    value: {
      accepted: 2,
      duplicates: 1,
      expired: 1,
      repaired: 0,
      rejected: [{ index: 3, line: 4, reason: 'shieldZoneId is missing' }],
      rejectedCount: 1,
    },
  },
};

/** INGEST_MAX_MB where it is not set. */
const INGEST_MAX = shownBytes(Number(CONFIG_VARIABLES.find(({ key }) => key === 'ingestMaxMb')?.default) * 1024 * 1024);

/** The intake and the dead letters. */
export const INGEST_GROUP = {
  tag: 'Intake',
  about: 'Events in, and those that could not become any',
  paths: {
    '/ingest/events': {
      post: {
        operationId: 'ingestEvents',
        summary: 'Take in events, as NDJSON or JSON of any length',
        description:
          'Content-Encoding may be gzip or zstd; where it is left out, the first bytes of the body tell. Sending the same events again ' +
          'stores nothing twice. A body with more than ' +
          `${shownCount(MAX_REJECTED)} events that are rejected, or longer than INGEST_MAX_MB (${INGEST_MAX}) decompressed, is refused ` +
          'there; what came before stays.',
        parameters: INGEST_PARAMETERS,
        requestBody: {
          description:
            'One event a line, or JSON, which every body is that begins with a bracket: there an event may go over several lines, and ' +
            'events and arrays may follow one another. The type may be left out',
          content: {
            ...content(LINE_TYPES, ref('Event'), LINES),
            ...content(JSON_TYPES, { anyOf: [{ type: 'array', items: ref('Event') }, ref('Event')] }, ARRAY),
          },
        },
        responses: {
          202: answer('All accepted events are on disk and searchable', 'IntakeReport', REPORT),
        },
        problems: [
          'request.malformed',
          'request.invalid',
          ...KEY_PROBLEMS,
          'access.zone_denied',
          'accept.none',
          'request.timeout',
          'body.unsupported_type',
          'store.append_failed',
          ...AVAILABILITY_PROBLEMS,
        ],
      },
    },
    ...LETTER_PATHS,
  },
  schemas: { ...INGEST_SCHEMAS, ...LETTER_SCHEMAS },
} as const satisfies DescribedGroup;
