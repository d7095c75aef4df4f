import { TEXT_FIELDS, type TextField } from '../../query/event-fields.ts';

export type OfferedColumn = 'time' | 'shieldZoneId' | 'logId' | TextField;

/** People look at these first. */
const FIRST_COLUMNS: readonly OfferedColumn[] = [
  'time',
  'shieldZoneId',
  'action',
  'feature',
  'ruleId',
  'ruleName',
  'ip',
  'country',
  'asn',
  'ja4',
  'url',
  'ua',
];

/** What the table of events can show, in the order in which it stands there unless somebody moves it: all fields but the log. */
export const OFFERED_COLUMNS: readonly OfferedColumn[] = [...new Set([...FIRST_COLUMNS, ...TEXT_FIELDS, 'logId' as const])];

/** The columns before a choice. The zone is one of them where the events are of several zones. */
export function usualColumns(severalZones: boolean): readonly OfferedColumn[] {
  return ['time', ...(severalZones ? (['shieldZoneId'] as const) : []), 'action', 'feature', 'ruleName', 'ip', 'country', 'url'];
}

/** Reads columns from a link, `time,ip,url`; null where one is unknown, repeated, or none is named. */
export function readColumns(text: string): readonly OfferedColumn[] | null {
  const names = text.split(',');
  const known = OFFERED_COLUMNS.filter((column) => names.includes(column));
  return known.length === names.length && known.length > 0 ? (names as OfferedColumn[]) : null;
}

/** Shows a column, at its usual place, or hides it. The last one stays. */
export function withColumn(columns: readonly OfferedColumn[], column: OfferedColumn, isShown: boolean): readonly OfferedColumn[] {
  if (!isShown) return columns.length === 1 ? columns : columns.filter((other) => other !== column);
  if (columns.includes(column)) return columns;
  const rank = OFFERED_COLUMNS.indexOf(column);
  const before = columns.findLastIndex((other) => OFFERED_COLUMNS.indexOf(other) < rank);
  return columns.toSpliced(before + 1, 0, column);
}
