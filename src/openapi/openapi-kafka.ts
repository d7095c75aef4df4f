import { exactly } from '../../edge/operations/json-schema.ts';
import { answer, type DescribedGroup, int32Schema, int64Schema, jsonBody, nullableText, textSchema } from './openapi-elements.ts';
import { AVAILABILITY_PROBLEMS, BODY_PROBLEMS } from './openapi-problems.ts';

const OFFSET = { ...textSchema, description: 'An offset, in digits' };

/** What is done about the intake from Kafka over HTTP. */
export const KAFKA_GROUP = {
  tag: 'Intake',
  paths: {
    '/ingest/kafka/rewind': {
      post: {
        operationId: 'rewindKafkaTopic',
        summary: 'Read a topic of Kafka again from a time on',
        description:
          'Brings back what was lost here and is still in Kafka. Events that are stored already count as duplicates. Needs a key of all ' +
          'zones with the scope admin.',
        requestBody: jsonBody('RewindRequest', {
          hours: { summary: 'From an hour on', value: { topic: 'events', since: 1_796_000_400_000 } },
        }),
        responses: {
          200: answer('The partitions that are read again', 'RewindReport', {
            report: { summary: 'One partition', value: { partitions: [{ partition: 3, from: '1204', until: '90210' }] } },
          }),
        },
        problems: [...BODY_PROBLEMS, 'access.zone_denied', 'kafka.rewind_refused', 'store.append_failed', ...AVAILABILITY_PROBLEMS],
      },
    },
    '/ingest/kafka/skip': {
      post: {
        operationId: 'skipKafkaBatch',
        summary: 'Go past a batch of Kafka that cannot be decoded',
        description:
          'Takes the offset alone that its partition waits at, which /readyz names. The bytes of the batch become a dead letter, and ' +
          'reading goes on behind its last offset. Needs a key of all zones with the scope admin.',
        requestBody: jsonBody('SkipRequest', {
          batch: { summary: 'The batch at an offset', value: { topic: 'events', partition: 3, offset: 1_204 } },
          damaged: { summary: 'One with a damaged header', value: { topic: 'events', partition: 3, offset: 1_204, to: 1_904 } },
        }),
        responses: {
          200: answer('It is skipped, or could be decoded by then', 'SkipReport', {
            report: { summary: 'Skipped', value: { skipped: true, next: '1904' } },
          }),
        },
        problems: [...BODY_PROBLEMS, 'access.zone_denied', 'kafka.skip_refused', ...AVAILABILITY_PROBLEMS],
      },
    },
  },
  schemas: {
    RewindRequest: exactly({
      topic: textSchema,
      since: {
        ...int64Schema,
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Unix ms UTC; the time that Kafka has of a message counts, not that of its event',
      },
    }),
    RewindReport: exactly({
      partitions: {
        type: 'array',
        description: 'Those that go back; the others had read nothing since then',
        items: exactly({ partition: { ...int32Schema, minimum: 0 }, from: OFFSET, until: OFFSET }),
      },
    }),
    SkipRequest: exactly(
      {
        topic: textSchema,
        partition: { ...int32Schema, minimum: 0 },
        offset: { ...int64Schema, minimum: 0, description: 'That the partition waits at' },
        to: {
          type: ['integer', 'null'],
          format: 'int64',
          minimum: 0,
          description: 'Where to go on. Needed where the header of the batch is damaged, and allowed only there',
        },
      },
      ['to'],
    ),
    SkipReport: exactly({
      skipped: { type: 'boolean', description: 'false: the batch could be decoded, and its events are stored' },
      next: { ...nullableText, description: 'The offset to go on from, in digits; null where nothing is skipped' },
    }),
  },
} as const satisfies DescribedGroup;
