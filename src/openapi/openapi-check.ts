import { exactly, nullable } from '../../edge/operations/json-schema.ts';
import { answer, count, type DescribedGroup, ref, textSchema } from './openapi-elements.ts';
import { KEY_PROBLEMS } from './openapi-problems.ts';

const kind = (name: string) => ({ const: name });

const SUMMARY = { kind: 'summary', folder: '/data', files: 24, bytes: 73_400_320, events: 1_204_000, faults: 0 };
const FAULT = {
  kind: 'fault',
  file: 'segments/c12-mfx0h2k1-0.parquet',
  fault: 'its bytes from 0 to 65536 are not as they were written',
  events: 30_000,
};

/** How the files of the store are checked over HTTP. */
export const CHECK_GROUP = {
  tag: 'The program',
  paths: {
    '/check': {
      get: {
        operationId: 'checkFiles',
        summary: 'Read all files of the store, and compare them with their checksums',
        description:
          'Answers a line for each file that is read, as it goes on, one for each fault, and a summary at the end: an answer without it ' +
          'is not whole. One check runs at a time. Needs a key of all zones with the scope admin.',
        responses: {
          200: answer(
            'Progress, faults, and the summary',
            'CheckLine',
            {
              progress: { summary: 'Some of it is read', value: { kind: 'progress', bytes: 65_536, totalBytes: 73_400_320 } },
              fault: { summary: 'A file is damaged', value: FAULT },
              summary: { summary: 'All of it is read', value: SUMMARY },
            },
            ['application/x-ndjson'],
          ),
        },
        problems: [
          ...KEY_PROBLEMS,
          'access.zone_denied',
          'access.scope_denied',
          'accept.none',
          'check.refused',
          'store.unavailable',
          'program.stopping',
        ],
      },
    },
  },
  schemas: {
    CheckLine: { oneOf: [ref('CheckProgress'), ref('CheckFault'), ref('CheckSummary')] },
    CheckProgress: exactly({
      kind: kind('progress'),
      bytes: count('That are read'),
      totalBytes: count('That were there at the beginning'),
    }),
    CheckFault: exactly({
      kind: kind('fault'),
      file: { ...textSchema, description: 'Its path in DATA_DIR' },
      fault: { ...textSchema, description: 'What is wrong with it' },
      events: nullable(count('At most so many are lost, or without their logs; null: nothing tells')),
    }),
    CheckSummary: exactly({
      kind: kind('summary'),
      folder: { ...textSchema, description: 'DATA_DIR' },
      files: count('That were read'),
      bytes: count('That were read'),
      events: count('In the files that are whole'),
      faults: count('That were found'),
    }),
  },
} as const satisfies DescribedGroup;
