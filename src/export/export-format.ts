import type { EventRow } from '../../query/search-result.ts';
import { rowJson } from '../http/search-response.ts';
import { CSV_HEADER, csvRow } from './csv-row.ts';

/** How the rows of an export are written. */
export interface ExportFormat {
  readonly name: 'csv' | 'ndjson';
  readonly contentType: string;
  /** Stands before the first row. */
  readonly header: string;
  /** One row with its line end. */
  writeRow(row: EventRow): string;
}

/** By content type; the first is what `*` and a missing `Accept` get. */
const FORMATS = {
  'text/csv': { name: 'csv', contentType: 'text/csv; charset=utf-8; header=present', header: CSV_HEADER, writeRow: csvRow },
  'application/x-ndjson': {
    name: 'ndjson',
    contentType: 'application/x-ndjson; charset=utf-8',
    header: '',
    writeRow: (row) => `${rowJson(row)}\n`,
  },
} as const satisfies Record<string, ExportFormat>;

export type ExportType = keyof typeof FORMATS;

export const EXPORT_TYPES = Object.keys(FORMATS) as ExportType[];

export function exportFormat(type: ExportType): ExportFormat {
  return FORMATS[type];
}
