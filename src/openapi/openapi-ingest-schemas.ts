import { LONGEST_LOG_ID_BYTES } from '../../ingest/event/scan/wire-event.ts';
import { MAX_REJECTED } from '../../ingest/upload/event-intake.ts';
import { LONGEST_REJECTED_LIST } from '../../ingest/upload/intake-report.ts';
import { DIMENSIONS } from '../../query/dimensions.ts';
import { exactly, int32, int64, list, nullableText, shownCount, text, time } from './openapi-values.ts';

/** What the intake and the dead letters take and answer. */
export const INGEST_SCHEMAS = {
  Event: {
    type: 'object',
    required: ['shieldZoneId', 'timestamp'],
    properties: {
      logId: {
        ...nullableText,
        minLength: 1,
        maxLength: LONGEST_LOG_ID_BYTES,
        description: `Unique; 1 to ${LONGEST_LOG_ID_BYTES} bytes of UTF-8. Without one it is made of the event's own bytes`,
      },
      shieldZoneId: int32,
      timestamp: { anyOf: [time('When it happened'), { type: 'string', format: 'date-time', description: 'ISO 8601 with a zone' }] },
      ...Object.fromEntries([...DIMENSIONS, 'ruleName'].map((name) => [name, nullableText])),
      asn: {
        type: ['string', 'integer', 'null'],
        minimum: 0,
        pattern: '^(([Aa][Ss])?[0-9]+)?$',
        description: 'Decimal digits, as a number or a text, which may begin with AS; "" is none',
      },
      log: { type: ['object', 'null'], description: 'The request as it was. Without one the whole event is the log' },
    },
    description: 'Members with other names belong to the log. At most 1 MiB, and not more than 10 minutes in the future',
  },
  IntakeReport: exactly({
    accepted: { ...int64, description: 'On disk and searchable, those that were stored already among them' },
    duplicates: {
      type: ['integer', 'null'],
      format: 'int64',
      description:
        'How many of the accepted were stored already, by an earlier request or earlier in this one; null where that is found out later',
    },
    expired: { ...int64, description: 'Older than the retention' },
    rejected: {
      ...list(
        exactly(
          {
            index: { ...int64, description: 'Which event it is, counted from 0' },
            line: { ...int64, description: 'The line of the decompressed body that it begins in, counted from 1' },
            reason: text,
            kept: { const: false, description: 'Only where it is not kept as a dead letter: DEAD_LETTER_MAX_MB is used up' },
          },
          ['kept'],
        ),
      ),
      maxItems: MAX_REJECTED,
      description: `The first ${shownCount(LONGEST_REJECTED_LIST)} that became no events, and all that are not kept; the others are dead letters`,
    },
    rejectedCount: { ...int64, description: 'How many became no events, also those that `rejected` does not list' },
  }),
  DeadLetterList: exactly({
    deadLetters: list(
      exactly(
        {
          id: int64,
          receivedAtMs: time('When it arrived'),
          source: text,
          topic: nullableText,
          partition: { type: ['integer', 'null'] },
          offset: nullableText,
          reason: text,
          sizeBytes: { ...int64, description: 'The length of the message' },
          sha256: { ...text, description: 'Of the whole message, in hexadecimal digits' },
          shieldZoneId: {
            anyOf: [int32, { type: 'null' }],
            description: 'The zone that its event would be in; null where none can be read',
          },
          replayable: {
            type: 'boolean',
            description:
              'False where not the whole message is kept: of one longer than 1 MiB the first 64 KiB, of one from Kafka past DEAD_LETTER_MAX_MB nothing',
          },
          text: { ...text, description: 'What is kept of the message, where it is UTF-8' },
          base64: { ...text, description: 'What is kept of the message, where it is not' },
        },
        ['text', 'base64'],
      ),
    ),
    nextAfterId: { type: ['integer', 'null'], description: 'The afterId of the next page' },
  }),
  ReplayRequest: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ids: { ...list({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), description: 'Left out: all dead letters' },
    },
  },
  ReplayReport: exactly({
    replayed: int64,
    stillRejected: int64,
    notReplayable: { ...int64, description: 'Letters that are not kept whole' },
  }),
  DiscardRequest: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: {
      ids: list({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      all: { const: true },
    },
  },
  DiscardReport: exactly({ discarded: int64 }),
} as const;
