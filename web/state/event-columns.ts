import { TEXT_FIELDS, type TextField } from '../../query/event-fields.ts';

export type EventColumn = 'time' | 'shieldZoneId' | 'logId' | TextField;

/** People look at these first. */
const FIRST_COLUMNS: readonly EventColumn[] = [
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

/** What the table of events can show, in the order in which it stands there unless somebody moves it: every field of an event but its log. */
export const EVENT_COLUMNS: readonly EventColumn[] = [...new Set([...FIRST_COLUMNS, ...TEXT_FIELDS, 'logId' as const])];

/** The columns before a choice. The zone is one of them where the events are of several zones. */
export function usualColumns(severalZones: boolean): readonly EventColumn[] {
  return ['time', ...(severalZones ? (['shieldZoneId'] as const) : []), 'action', 'feature', 'ip', 'country', 'url'];
}

/** Reads columns from a link, `time,ip,url`; null where one is unknown, repeated, or none is named. */
export function readColumns(text: string): readonly EventColumn[] | null {
  const names = text.split(',');
  const known = EVENT_COLUMNS.filter((column) => names.includes(column));
  return known.length === names.length && known.length > 0 ? (names as EventColumn[]) : null;
}

/** Shows a column, at its usual place, or hides it. The last one stays. */
export function withColumn(columns: readonly EventColumn[], column: EventColumn, isShown: boolean): readonly EventColumn[] {
  if (!isShown) return columns.length === 1 ? columns : columns.filter((other) => other !== column);
  if (columns.includes(column)) return columns;
  const rank = EVENT_COLUMNS.indexOf(column);
  const before = columns.findLastIndex((other) => EVENT_COLUMNS.indexOf(other) < rank);
  return columns.toSpliced(before + 1, 0, column);
}
