import { csvCell, csvObjectCell } from '../../query/csv-cell.ts';
import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { EventRow } from '../../query/plan/search-result.ts';
import type { AnswerPart } from '../http/answer-writes.ts';
import { rowJson, type WriteRow, zoneRowJson } from '../http/search-json.ts';

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
  /** Those of CSV, some of {@link csvColumns}. Default: all. */
  readonly columns?: readonly string[] | undefined;
}

export function exportFormat(type: ExportType, options: FormatOptions): ExportFormat {
  return FORMATS[type](options);
}

function csvFormat({ hasZones, hasBom = false, columns = csvColumns(hasZones) }: FormatOptions): ExportFormat {
  return {
    name: 'csv',
    contentType: 'text/csv; charset=utf-8; header=present',
    header: `${hasBom ? '\ufeff' : ''}${columns.join(',')}${CSV_LINE_END}`,
    writeRow: csvWriter(columns),
  };
}

function ndjsonFormat({ hasZones }: FormatOptions): ExportFormat {
  const json = hasZones ? zoneRowJson : rowJson;
  const writeRow: WriteRow = (row) => [...json(row), '\n'];
  return { name: 'ndjson', contentType: 'application/x-ndjson; charset=utf-8', header: '', writeRow };
}

/** The cells of a row that are no text of {@link TEXT_FIELDS}, by their columns. */
const OTHER_CELLS: Readonly<Record<string, (row: EventRow) => AnswerPart>> = {
  time: ({ timestamp }) => new Date(timestamp).toISOString(),
  timestamp: ({ timestamp }) => String(timestamp),
  logId: ({ logId }) => csvCell(logId),
  shieldZoneId: ({ zoneId }) => csvCell(String(zoneId)),
  log: ({ log }) => csvObjectCell(log),
};

/** The columns of CSV in their order, where no others are asked for: `shieldZoneId` is one of them where each row names its zone. */
export function csvColumns(hasZones: boolean): readonly string[] {
  return ['time', 'timestamp', 'logId', ...(hasZones ? ['shieldZoneId'] : []), ...TEXT_FIELDS, 'log'];
}

/**
 * Writes records (RFC 4180) with their line end, of columns of {@link csvColumns}: the time as ISO 8601 and as Unix milliseconds, the
 * texts, and the log as JSON text. No package writes them, because csv-stringify takes twice as long for a row as the store takes to read
 * it.
 */
export function csvWriter(columns: readonly string[]): WriteRow {
  const cells = columns.map((name) => ({ name, write: OTHER_CELLS[name] }));
  return (row) => {
    const parts: AnswerPart[] = [];
    let [text, separator] = ['', ''];
    for (const { name, write } of cells) {
      const cell = write === undefined ? csvCell(row.fields[name]) : write(row);
      if (typeof cell === 'string') {
        text += separator + cell;
      } else {
        parts.push(text + separator, cell);
        text = '';
      }
      separator = ',';
    }
    parts.push(text + CSV_LINE_END);
    return parts;
  };
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
