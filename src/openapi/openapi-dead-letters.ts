import { exactly, listOf, nullable } from '../../edge/operations/json-schema.ts';
import { LARGEST_EVENT_BYTES } from '../../ingest/event/event-verdict.ts';
import { KEPT_START_BYTES } from '../../ingest/event/partial-event.ts';
import { JSON_TYPES } from '../http/content-negotiation.ts';
import { DEFAULT_LISTED_LETTERS, MAX_LISTED_LETTERS } from '../http/dead-letter-json.ts';
import {
  answer,
  content,
  type DescribedGroup,
  type Examples,
  int32Schema,
  int64Schema,
  integerIn,
  jsonBody,
  nullableText,
  ref,
  shownBytes,
  textSchema,
  time,
} from './openapi-elements.ts';
import { AVAILABILITY_PROBLEMS, BODY_PROBLEMS, KEY_PROBLEMS } from './openapi-problems.ts';

/** Of an embedded store, whose ids requests may also have as whole numbers, or of one on ClickHouse. */
const letterId = { type: 'string', pattern: '^([0-9]{1,19}|[0-9a-f]{32})$' };
const namedLetter = { anyOf: [letterId, { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }] };

/** What requests about dead letters take and answer. */
export const LETTER_SCHEMAS = {
  DeadLetterList: exactly({
    deadLetters: listOf(
      exactly(
        {
          id: { ...letterId, description: 'It orders the letters; nothing else may be read from it' },
          receivedAtMs: time('When it arrived'),
          source: textSchema,
          mapping: { ...nullableText, description: 'The mapping by which it was to become an event; null where it was to be one as it is' },
          topic: nullableText,
          partition: { type: ['integer', 'null'] },
          offset: nullableText,
          index: {
            type: ['integer', 'null'],
            description: 'Which of several events of a message it is, counted from 0; null where it is all of a message, or not from Kafka',
          },
          reason: textSchema,
          sizeBytes: { ...int64Schema, description: 'The length of the message' },
          sha256: { ...textSchema, description: 'Of the whole message, in hexadecimal digits' },
          shieldZoneId: {
            ...nullable(int32Schema),
            description: 'The zone that its event would be in; null where none can be read',
          },
          replayable: {
            type: 'boolean',
            description:
              `False where not the whole message is kept: of one longer than ${shownBytes(LARGEST_EVENT_BYTES)} the first ` +
              `${shownBytes(KEPT_START_BYTES)}, of one from Kafka past DEAD_LETTER_MAX_MB nothing`,
          },
          text: { ...textSchema, description: 'What is kept of the message, where it is UTF-8' },
          base64: { ...textSchema, description: 'What is kept of the message, where it is not' },
        },
        ['text', 'base64'],
      ),
    ),
    nextAfterId: { ...nullableText, description: 'The afterId of the next page' },
  }),
  ReplayRequest: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ids: { ...listOf(namedLetter), description: 'Left out: all dead letters' },
      mapping: {
        ...textSchema,
        description: 'Only with ids. The mapping by which these letters become events; left out: each by its own, or as it is',
      },
    },
    dependentRequired: { mapping: ['ids'] },
  },
  ReplayReport: exactly(
    {
      replayed: {
        ...int64Schema,
        description:
          'Letters that are no more: their events are stored, or past the retention, or have letters, or are left out by a mapping',
      },
      stillRejected: {
        ...int64Schema,
        description: 'Events that still break a rule: their letters stay, or are new ones of a message of several',
      },
      notReplayable: { ...int64Schema, description: 'Letters that are not kept whole' },
      missingMappings: {
        ...listOf(textSchema),
        description: 'Only where letters name mappings that the program has not: these names. Such letters stay',
      },
    },
    ['missingMappings'],
  ),
  DiscardRequest: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: {
      ids: listOf(namedLetter),
      all: { type: 'boolean', enum: [true] },
    },
  },
  DiscardReport: exactly({ discarded: int64Schema }),
} as const satisfies DescribedGroup['schemas'];

const LETTERS: Examples = {
  letters: {
    summary: 'One from an upload, one from Kafka',
    value: {
      deadLetters: [
        {
          id: '1',
          receivedAtMs: 1_767_228_000_123,
          source: 'http',
          mapping: null,
          topic: null,
          partition: null,
          offset: null,
          index: null,
          reason: 'timestamp is missing',
          sizeBytes: 18,
          sha256: '398a866ea587e826a1752fbf7f88f2563f3d4f1ae8cd47021b8de95e323989e4',
          shieldZoneId: 7,
          replayable: true,
          text: '{"shieldZoneId":7}',
        },
        {
          id: '2',
          receivedAtMs: 1_767_228_000_456,
          source: 'kafka',
          mapping: null,
          topic: 'events',
          partition: 0,
          offset: '42',
          index: 3,
          reason: 'it is not UTF-8',
          sizeBytes: 3,
          sha256: '29a6a173e5511d494a74cddb35b9d04ad02ea5060e406779d5c10f35f4862249',
          shieldZoneId: null,
          replayable: true,
          base64: '/wD/',
        },
      ],
      nextAfterId: null,
    },
  },
};

/** The paths of the dead letters, which are part of the intake. */
export const LETTER_PATHS = {
  '/ingest/dead-letters': {
    get: {
      operationId: 'listDeadLetters',
      summary: 'List the messages that could not become events',
      description: 'Those of the zones that the key opens; those whose zone cannot be read are for keys of every zone.',
      parameters: [
        { name: 'afterId', in: 'query', schema: letterId, description: 'Only those after it: the nextAfterId of a page' },
        integerIn('query', 'limit', { minimum: 1, maximum: MAX_LISTED_LETTERS, default: DEFAULT_LISTED_LETTERS }, 'At most so many'),
      ],
      responses: {
        200: answer('In the order of their ids', 'DeadLetterList', LETTERS),
      },
      problems: ['request.invalid', ...KEY_PROBLEMS, ...AVAILABILITY_PROBLEMS],
    },
  },
  '/ingest/dead-letters/replay': {
    post: {
      operationId: 'replayDeadLetters',
      summary: 'Try dead letters once more: all, or those named',
      description: 'Those of the zones that the key opens. Of a letter that is not kept whole nothing can be replayed.',
      requestBody: {
        description: 'None, or an empty one: all',
        content: content(JSON_TYPES, ref('ReplayRequest'), {
          some: { summary: 'Two of them', value: { ids: ['1', '2'] } },
          by: { summary: 'Records of AWS WAF that were sent without a mapping', value: { ids: ['3'], mapping: 'aws-waf' } },
          all: { summary: 'All of them', value: {} },
        }),
      },
      responses: {
        200: answer('What became of them', 'ReplayReport', {
          report: { summary: 'One has', value: { replayed: 1, stillRejected: 1, notReplayable: 0 } },
        }),
      },
      problems: [...BODY_PROBLEMS, 'store.append_failed', ...AVAILABILITY_PROBLEMS],
    },
  },
  '/ingest/dead-letters/discard': {
    post: {
      operationId: 'discardDeadLetters',
      summary: 'Remove dead letters for good: those named, or all',
      description: 'Those of the zones that the key opens.',
      requestBody: jsonBody('DiscardRequest', {
        some: { summary: 'Two of them', value: { ids: ['1', '2'] } },
        all: { summary: 'All of them', value: { all: true } },
      }),
      responses: {
        200: answer('How many there were', 'DiscardReport', { report: { summary: 'Two', value: { discarded: 2 } } }),
      },
      problems: [...BODY_PROBLEMS, ...AVAILABILITY_PROBLEMS],
    },
  },
} as const satisfies DescribedGroup['paths'];
