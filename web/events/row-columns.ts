import type { EventRow } from '../api/event-row.ts';

/** What a column of the table of events shows. `fields` of an event have the others. */
const OWN_COLUMNS = ['time', 'logId', 'shieldZoneId'] as const;

const FIELD_COLUMNS = ['action', 'feature', 'ruleId', 'ruleName', 'ip', 'country', 'asn', 'ja4', 'url', 'ua'] as const;

export type RowColumn = (typeof OWN_COLUMNS)[number] | (typeof FIELD_COLUMNS)[number];

export const ROW_COLUMNS: readonly RowColumn[] = ['time', 'shieldZoneId', ...FIELD_COLUMNS, 'logId'];

/** The columns before a choice. The zone is one of them where the rows are of several zones. */
export function usualColumns(severalZones: boolean): readonly RowColumn[] {
  return ['time', ...(severalZones ? (['shieldZoneId'] as const) : []), 'action', 'feature', 'ip', 'country', 'url'];
}

/** The text of a column but the time, which is shown by the clock of the page; undefined where the event has no such field. */
export function cellText(row: EventRow, column: Exclude<RowColumn, 'time'>): string | undefined {
  if (column === 'logId') return row.logId;
  return column === 'shieldZoneId' ? String(row.shieldZoneId) : row.fields[column];
}

/** Reads columns from a link, `time,ip,url`; null where one is unknown, repeated, or none is named. */
export function parseColumns(text: string): readonly RowColumn[] | null {
  const names = text.split(',');
  const columns = ROW_COLUMNS.filter((column) => names.includes(column));
  return columns.length === names.length && columns.length > 0 ? (names as RowColumn[]) : null;
}

/** Shows a column, at its usual place, or hides it. The last one stays. */
export function withColumn(columns: readonly RowColumn[], column: RowColumn, isShown: boolean): readonly RowColumn[] {
  if (!isShown) return columns.length === 1 ? columns : columns.filter((other) => other !== column);
  if (columns.includes(column)) return columns;
  const rank = ROW_COLUMNS.indexOf(column);
  const before = columns.findLastIndex((other) => ROW_COLUMNS.indexOf(other) < rank);
  return columns.toSpliced(before + 1, 0, column);
}
