import { exactly, listOf } from '../../edge/operations/json-schema.ts';
import { explainBlock } from '../../ingest/kafka/blocked-partition.ts';
import { answer, content, type DescribedGroup, OPEN, textSchema } from './openapi-elements.ts';
import { KEY_PROBLEMS, problemsAlone, REQUEST_ID } from './openapi-problems.ts';

const readiness = (status: string, reasons: readonly string[]) => ({ [status]: { summary: status, value: { status, reasons } } });

const BLOCKED = `kafka: ${explainBlock({
  topic: 'events',
  partition: 3,
  offset: 1_204n,
  reason: 'unpacks to more than 64 MiB of zstd',
  next: 1_904n,
})}`;

const METRICS_TEXT = '# HELP shieldlog_events Events that are searchable\n# TYPE shieldlog_events gauge\nshieldlog_events 42\n';

/** Health, metrics and this description. */
export const PROGRAM_GROUP = {
  tag: 'The program',
  about: 'How it is doing, and what it serves',
  paths: {
    '/healthz': {
      get: {
        operationId: 'isAlive',
        summary: 'The process answers',
        ...OPEN,
        responses: {
          200: answer('Alive', 'Liveness', { alive: { summary: 'Alive', value: { status: 'alive' } } }),
          ...problemsAlone('/healthz', 'access.foreign_page'),
        },
      },
    },
    '/readyz': {
      get: {
        operationId: 'isReady',
        summary: 'The program serves and takes in what it is set up to',
        description:
          'Once access keys exist, the reasons are words for a key of the scope metrics or admin, and codes for everyone else: ' +
          'program.stopping, store.not_ready, kafka.not_ready, kafka.blocked, kafka.transaction_hangs. The status is the same for all.',
        ...OPEN,
        responses: {
          200: answer('Ready; reasons name what waits all the same', 'Readiness', {
            ...readiness('ready', []),
            blocked: { summary: 'ready, and something waits', value: { status: 'ready', reasons: [BLOCKED] } },
          }),
          ...problemsAlone('/readyz', 'access.foreign_page'),
          503: {
            ...answer('Not ready, with the reasons', 'Readiness', {
              ...readiness('not ready', ['kafka: joining the Kafka consumer group shieldlog']),
              codes: { summary: 'not ready, as told to others', value: { status: 'not ready', reasons: ['kafka.not_ready'] } },
            }),
            headers: { 'X-Request-Id': REQUEST_ID },
          },
        },
      },
    },
    '/metrics': {
      get: {
        operationId: 'metrics',
        summary: "Metrics in Prometheus' text format; the key needs the scope metrics",
        responses: {
          200: {
            description: 'Metrics',
            content: content(['text/plain'], { type: 'string' }, { metrics: { summary: 'One of them', value: METRICS_TEXT } }),
          },
        },
        problems: [...KEY_PROBLEMS, 'program.stopping'],
      },
    },
    '/openapi.json': {
      get: {
        operationId: 'describeInterface',
        summary: 'This description; /docs shows it as a page',
        ...OPEN,
        responses: {
          200: {
            description: 'OpenAPI 3.1',
            content: content(
              ['application/json'],
              { type: 'object', required: ['openapi', 'info', 'paths', 'components'] },
              {
                begin: {
                  summary: 'How it begins',
                  value: { openapi: '3.1.0', info: { title: 'shieldlog', version: '0.1.0' }, paths: {}, components: {} },
                },
              },
            ),
          },
          ...problemsAlone('/openapi.json', 'access.foreign_page', 'program.stopping'),
        },
      },
    },
  },
  schemas: {
    Liveness: exactly({ status: { const: 'alive' } }),
    Readiness: exactly({ status: { enum: ['ready', 'not ready'] }, reasons: listOf(textSchema) }),
  },
} as const satisfies DescribedGroup;
