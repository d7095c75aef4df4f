import type { EventRow } from '../../query/search-result.ts';
import { type ExportType, exportFormat } from '../export/export-format.ts';
import { JSON_TYPES } from '../http/content-negotiation.ts';
import { content, type DescribedGroup, integerIn, ref } from './openapi-content.ts';
import { DEFECT, KEY_PROBLEMS, problems } from './openapi-problems.ts';
import { SEARCH_SCHEMAS } from './openapi-search-schemas.ts';
import { INT32_RANGE } from './openapi-values.ts';

const PATH = '/shield/event-logs/{shieldZoneId}/export';

const { from, to, query, filters } = SEARCH_SCHEMAS.EventLogsSearchRequest.properties;

const REQUEST = {
  blocked: {
    summary: 'Everything that was blocked in an hour',
    value: { from: 1_767_225_600_000, to: 1_767_229_200_000, filters: [{ field: 'action', op: 'eq', value: ['blocked'] }] },
  },
};

const ROW: EventRow = {
  logId: '7f0c5a',
  timestamp: 1_767_228_000_123,
  logJson: '{"RemoteIp":"192.0.2.7"}',
  fields: { ip: '192.0.2.7', url: 'https://shop.example/login', action: 'blocked' },
};

/** An example in the format that exports of that type have. */
function exampleIn(type: ExportType): string {
  const { header, writeRow } = exportFormat(type);
  return `${header}${writeRow(ROW)}`;
}

/** Everything that a search finds, in one answer. */
export const EXPORT_GROUP = {
  paths: {
    [PATH]: {
      post: {
        operationId: 'exportEventLogs',
        tags: ['Event logs'],
        summary: 'Export everything that a search would find, newest first',
        description: 'Accept-Encoding may be zstd or gzip. An answer that breaks off is cut in its transfer: it is not whole.',
        parameters: [integerIn('path', 'shieldZoneId', INT32_RANGE, 'The shield zone', 7)],
        requestBody: { required: true, content: content(JSON_TYPES, ref('EventLogsExportRequest'), REQUEST) },
        responses: {
          200: {
            description: 'A row for each event',
            content: {
              ...content(['text/csv'], { type: 'string' }, { csv: { summary: 'RFC 4180 with a header', value: exampleIn('text/csv') } }),
              ...content(['application/x-ndjson'], ref('EventRow'), {
                line: { summary: 'A row of the search a line', value: exampleIn('application/x-ndjson') },
              }),
            },
          },
          ...problems(
            '/shield/event-logs/7/export',
            'request.malformed',
            'request.invalid',
            ...KEY_PROBLEMS,
            'access.zone_denied',
            'accept.none',
            'request.timeout',
            'body.too_large',
            'body.unsupported_type',
            'search.deadline',
            'store.busy',
            'program.stopping',
          ),
          ...DEFECT,
        },
      },
    },
  },
  schemas: {
    EventLogsExportRequest: {
      type: 'object',
      additionalProperties: false,
      required: ['from', 'to'],
      properties: { from, to, query, filters },
    },
  },
} as const satisfies DescribedGroup;
