import { exactly } from '../../edge/operations/json-schema.ts';
import { content, type DescribedGroup, int64Schema, jsonBody, textSchema } from './openapi-elements.ts';
import { AVAILABILITY_PROBLEMS, BODY_PROBLEMS } from './openapi-problems.ts';

export const BACKUP_TYPE = 'application/octet-stream';

/** How many files a request may name. */
export const MAX_BACKUP_FILES = 200_000;

const FILE = { name: 'segments/j12-mf3k2q0a-471200.parquet', bytes: 18_204 };

/** The copy of the data folder. */
export const BACKUP_GROUP = {
  tag: 'The program',
  paths: {
    '/backup': {
      post: {
        operationId: 'backUp',
        summary: 'Copy the data folder of one moment',
        description:
          'For shieldlog backup. The events that are stored by then are in it, with dead letters and the state of the control plane, its ' +
          'secrets too. Intake and searches go on; one backup is made at a time. Needs a key of all zones with the scope admin.',
        requestBody: jsonBody('BackupRequest', {
          first: { summary: 'Into an empty folder', value: { files: [] } },
          next: { summary: 'Into one that has a file already', value: { files: [FILE] } },
        }),
        responses: {
          200: {
            description:
              'A line of JSON that names all files, the bytes of those that are sent, one after the other, and the line {"whole":true}. ' +
              'An answer without that line has broken off.',
            content: content(
              [BACKUP_TYPE],
              { type: 'string', format: 'binary' },
              {
                nothing: {
                  summary: 'The folder has all files but the catalog',
                  value: `${JSON.stringify({ store: 2_814_749_767, events: 1, files: [{ ...FILE, sent: false }] })}\n{"whole":true}\n`,
                },
              },
            ),
          },
        },
        problems: [...BODY_PROBLEMS, 'access.zone_denied', 'backup.refused', ...AVAILABILITY_PROBLEMS],
      },
    },
  },
  schemas: {
    BackupRequest: exactly({
      files: {
        type: 'array',
        maxItems: MAX_BACKUP_FILES,
        description: 'What the folder has already; a file of the same name and size is not sent again',
        items: exactly({ name: textSchema, bytes: { ...int64Schema, minimum: 0 } }),
      },
    }),
  },
} as const satisfies DescribedGroup;
