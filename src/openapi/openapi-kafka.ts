import { JSON_TYPES } from '../http/content-negotiation.ts';
import { answer, content, type DescribedGroup, exactly, int32, int64, nullableText, ref, text } from './openapi-elements.ts';
import { DEFECT, KEY_PROBLEMS, problemAnswers } from './openapi-problems.ts';

/** What is done about the intake from Kafka over HTTP. */
export const KAFKA_GROUP = {
  paths: {
    '/ingest/kafka/skip': {
      post: {
        operationId: 'skipKafkaBatch',
        tags: ['Intake'],
        summary: 'Go past a batch of Kafka that cannot be decoded',
        description:
          'Takes the offset alone that its partition waits at, which /readyz names. The bytes of the batch become a dead letter, and ' +
          'reading goes on behind its last offset. Needs a key of all zones with the scope admin.',
        requestBody: {
          required: true,
          content: content(JSON_TYPES, ref('SkipRequest'), {
            batch: { summary: 'The batch at an offset', value: { topic: 'events', partition: 3, offset: 1_204 } },
            damaged: { summary: 'One with a damaged header', value: { topic: 'events', partition: 3, offset: 1_204, to: 1_904 } },
          }),
        },
        responses: {
          200: answer('It is skipped, or could be decoded by then', 'SkipReport', {
            report: { summary: 'Skipped', value: { skipped: true, next: '1904' } },
          }),
          ...problemAnswers(
            '/ingest/kafka/skip',
            'request.malformed',
            'request.invalid',
            ...KEY_PROBLEMS,
            'access.zone_denied',
            'request.timeout',
            'kafka.skip_refused',
            'body.too_large',
            'body.unsupported_type',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
  },
  schemas: {
    SkipRequest: exactly(
      {
        topic: text,
        partition: { ...int32, minimum: 0 },
        offset: { ...int64, minimum: 0, description: 'That the partition waits at' },
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
