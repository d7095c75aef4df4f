import { MAX_REJECTED } from '../../ingest/upload/event-intake.ts';
import { JSON_TYPES, LINE_TYPES } from '../http/content-negotiation.ts';
import { answer, content, type DescribedGroup, type Examples, integerIn, ref } from './openapi-content.ts';
import { INGEST_SCHEMAS } from './openapi-ingest-schemas.ts';
import { DEFECT, KEY_PROBLEMS, problems } from './openapi-problems.ts';
import { shownCount } from './openapi-values.ts';

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
      rejected: [{ index: 3, line: 4, reason: 'shieldZoneId is missing' }],
      rejectedCount: 1,
    },
  },
};

const LETTERS: Examples = {
  letters: {
    summary: 'One from an upload, one from Kafka',
    value: {
      deadLetters: [
        {
          id: 1,
          receivedAtMs: 1_767_228_000_123,
          source: 'http',
          topic: null,
          partition: null,
          offset: null,
          reason: 'timestamp is missing',
          sizeBytes: 18,
          sha256: '398a866ea587e826a1752fbf7f88f2563f3d4f1ae8cd47021b8de95e323989e4',
          shieldZoneId: 7,
          replayable: true,
          text: '{"shieldZoneId":7}',
        },
        {
          id: 2,
          receivedAtMs: 1_767_228_000_456,
          source: 'kafka',
          topic: 'events',
          partition: 0,
          offset: '42',
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

/** The intake and the dead letters. */
export const INGEST_GROUP = {
  tag: { name: 'Intake', description: 'Events in, and those that could not become any' },
  paths: {
    '/ingest/events': {
      post: {
        operationId: 'ingestEvents',
        tags: ['Intake'],
        summary: 'Take in events, as NDJSON or a JSON array of any length',
        description: `Content-Encoding may be gzip or zstd. Sending the same events again stores nothing twice. A body with more than ${shownCount(MAX_REJECTED)} events that are rejected, or longer than INGEST_MAX_MB (16 GiB) decompressed, is refused there; what came before stays.`,
        parameters: [{ name: 'source', in: 'query', description: 'For the metrics', schema: { enum: ['http', 'file'], default: 'http' } }],
        requestBody: {
          description: 'One event a line, or one JSON array: the first byte tells, whatever the type says. The type may be left out',
          content: {
            ...content(LINE_TYPES, ref('Event'), LINES),
            ...content(JSON_TYPES, { anyOf: [{ type: 'array', items: ref('Event') }, ref('Event')] }, ARRAY),
          },
        },
        responses: {
          202: answer('All accepted events are on disk and searchable', 'IntakeReport', REPORT),
          ...problems(
            '/ingest/events',
            'request.malformed',
            'request.invalid',
            ...KEY_PROBLEMS,
            'access.zone_denied',
            'accept.none',
            'request.timeout',
            'body.unsupported_type',
            'store.append_failed',
            'store.busy',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
    '/ingest/dead-letters': {
      get: {
        operationId: 'listDeadLetters',
        tags: ['Intake'],
        summary: 'List the messages that could not become events',
        description: 'Those of the zones that the key opens; those whose zone cannot be read are for keys of every zone.',
        parameters: [
          integerIn('query', 'afterId', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 'Only those after it: the nextAfterId of a page'),
          integerIn('query', 'limit', { minimum: 1, maximum: 10_000, default: 100 }, 'At most so many'),
        ],
        responses: {
          200: answer('In the order of their ids', 'DeadLetterList', LETTERS),
          ...problems('/ingest/dead-letters', 'request.invalid', ...KEY_PROBLEMS, 'program.stopping'),
          ...DEFECT,
        },
      },
    },
    '/ingest/dead-letters/replay': {
      post: {
        operationId: 'replayDeadLetters',
        tags: ['Intake'],
        summary: 'Try dead letters once more: all, or those named',
        description: 'Those of the zones that the key opens. Of a letter that is not kept whole nothing can be replayed.',
        requestBody: {
          description: 'None, or an empty one: all',
          content: content(JSON_TYPES, ref('ReplayRequest'), {
            some: { summary: 'Two of them', value: { ids: [1, 2] } },
            all: { summary: 'All of them', value: {} },
          }),
        },
        responses: {
          200: answer('What became of them', 'ReplayReport', {
            report: { summary: 'One has', value: { replayed: 1, stillRejected: 1, notReplayable: 0 } },
          }),
          ...problems(
            '/ingest/dead-letters/replay',
            'request.malformed',
            'request.invalid',
            ...KEY_PROBLEMS,
            'request.timeout',
            'body.too_large',
            'body.unsupported_type',
            'store.append_failed',
            'store.busy',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
    '/ingest/dead-letters/discard': {
      post: {
        operationId: 'discardDeadLetters',
        tags: ['Intake'],
        summary: 'Remove dead letters for good: those named, or all',
        description: 'Those of the zones that the key opens.',
        requestBody: {
          required: true,
          content: content(JSON_TYPES, ref('DiscardRequest'), {
            some: { summary: 'Two of them', value: { ids: [1, 2] } },
            all: { summary: 'All of them', value: { all: true } },
          }),
        },
        responses: {
          200: answer('How many there were', 'DiscardReport', { report: { summary: 'Two', value: { discarded: 2 } } }),
          ...problems(
            '/ingest/dead-letters/discard',
            'request.malformed',
            'request.invalid',
            ...KEY_PROBLEMS,
            'request.timeout',
            'body.too_large',
            'body.unsupported_type',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
  },
  schemas: INGEST_SCHEMAS,
} as const satisfies DescribedGroup;
