import { csvCell, csvObjectCell } from '../../query/csv-cell.ts';
import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { EventRow } from '../../query/plan/search-result.ts';
import type { AnswerPart } from '../http/answer-writes.ts';
import { rowJson, type WriteRow, zoneRowJson } from '../http/search-response.ts';

/** How the rows of an export are written. */
export interface ExportFormat {
  readonly name: 'csv' | 'ndjson';
  readonly contentType: string;
  /** The text that is sent before the first row. */
  readonly header: string;
  /** Returns one row with its line end. */
  readonly writeRow: WriteRow;
}

const CSV_LINE_END = '\r\n';

/** The formats by content type. `*` and a missing `Accept` get the first. */
const FORMATS = {
  'text/csv': csvFormat,
  'application/x-ndjson': ndjsonFormat,
} as const satisfies Record<string, (options: FormatOptions) => ExportFormat>;

export type ExportType = keyof typeof FORMATS;

export const EXPORT_TYPES = Object.keys(FORMATS) as ExportType[];

interface FormatOptions {
  /** Each row names its zone. */
  readonly hasZones: boolean;
  /** A BOM comes first, which some spreadsheets need to read UTF-8. Only CSV has one. */
  readonly hasBom?: boolean;
}

export function exportFormat(type: ExportType, options: FormatOptions): ExportFormat {
  return FORMATS[type](options);
}

function csvFormat({ hasZones, hasBom = false }: FormatOptions): ExportFormat {
  const columns = ['time', 'timestamp', 'logId', ...(hasZones ? ['shieldZoneId'] : []), ...TEXT_FIELDS, 'log'];
  return {
    name: 'csv',
    contentType: 'text/csv; charset=utf-8; header=present',
    header: `${hasBom ? '\ufeff' : ''}${columns.join(',')}${CSV_LINE_END}`,
    writeRow: hasZones ? zoneCsvRow : csvRow,
  };
}

function ndjsonFormat({ hasZones }: FormatOptions): ExportFormat {
  const json = hasZones ? zoneRowJson : rowJson;
  const writeRow: WriteRow = (row) => [...json(row), '\n'];
  return { name: 'ndjson', contentType: 'application/x-ndjson; charset=utf-8', header: '', writeRow };
}

/**
 * Returns one record (RFC 4180) with its line end: the time as ISO 8601 and as Unix milliseconds, the texts, and the log as JSON text.
 * No package writes it, because csv-stringify takes twice as long for a row as the store takes to read it.
 */
export function csvRow(row: EventRow): readonly AnswerPart[] {
  return csvRecord(row, '');
}

/** Returns a record as {@link csvRow} does, with the zone after the log id. */
function zoneCsvRow(row: EventRow): readonly AnswerPart[] {
  return csvRecord(row, `,${csvCell(String(row.zoneId))}`);
}

function csvRecord({ logId, timestamp, log, fields }: EventRow, zoneCell: string): readonly AnswerPart[] {
  let record = `${new Date(timestamp).toISOString()},${timestamp},${csvCell(logId)}${zoneCell}`;
  for (const name of TEXT_FIELDS) record += `,${csvCell(fields[name])}`;
  return [`${record},`, csvObjectCell(log), CSV_LINE_END];
}

/** Returns the basic format of ISO 8601 to the second (`20251101T000000Z`): some file systems allow no colon in a name. */
function basicTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** Returns the `Content-Disposition` (RFC 6266) of an export. Its file name holds the zone, where it is one, and the window. */
export function exportDisposition({ zones, window }: SearchPlan, extension: string): string {
  const which = zones !== 'all' && zones.length === 1 ? `zone-${zones[0]}` : 'zones';
  return `attachment; filename="shieldlog-${which}-${basicTime(window.fromMs)}-${basicTime(window.toMs)}.${extension}"`;
}
