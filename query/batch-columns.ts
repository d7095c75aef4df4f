import { type ColumnType, EVENT_FIELDS, EVENT_FIELDS_VERSION, type EventField, type FieldRow } from './event-fields.ts';

type ColumnsOf<Field> = Field extends { readonly columns: infer Columns } ? keyof Columns : never;
type DerivedOf<Field> = Field extends { readonly derived: infer Columns } ? keyof Columns : never;

export type BatchColumn = (ColumnsOf<EventField> | DerivedOf<EventField>) & string;

/**
 * The columns in which the fields of a batch's events are handed to the store, and in which its journal has them. They are those of a
 * segment, so that nothing has to be worked out anew when events are flushed. `since` is the version of the table of fields that has the
 * column first: files of an earlier one lack it.
 *
 * - `shieldZoneId`, `timestamp` (Unix ms UTC): in every event
 * - `logIdBytes`, `logIdText`: of an id of 32 hexadecimal digits in lower case the 16 bytes, and no text; of a UUID in lower case the 16
 * bytes, and the text `-`; any other id is the text, without bytes
 * - the text fields of `query/event-fields.ts`, absent when the event has none (an empty text is a value); `url` in two parts: `urlHead` is
 * the text up to the first `?`, with it, `urlTail` the rest, maybe empty
 * - `ipHigh`, `ipLow`: the upper and lower 64 bits of `ip` as an IPv6 number (IPv4 as `::ffff:a.b.c.d`), of a masked `ip` that of the first
 * address of its network, both absent when `ip` is absent or is neither
 */
export const BATCH_COLUMNS: readonly { readonly name: BatchColumn; readonly type: ColumnType; readonly since: number }[] = Array.from(
  { length: EVENT_FIELDS_VERSION },
  (_, index) => columnsSince(index + 1),
).flat();

function columnsSince(version: number): { name: BatchColumn; type: ColumnType; since: number }[] {
  const added: readonly FieldRow[] = EVENT_FIELDS.filter(({ since }) => since === version);
  const columns = [...added.map((field) => field.columns), ...added.map(({ derived = {} }) => derived)].flatMap(Object.entries);
  return columns.map(([name, type]) => ({ name: name as BatchColumn, type, since: version }));
}

/** The index of a column in {@link BATCH_COLUMNS}. */
export function columnIndex(name: BatchColumn): number {
  return BATCH_COLUMNS.findIndex((column) => column.name === name);
}

/**
 * The bit of an event's mask that says whether lower case changes its `ip` or `urlTail`, or may do so: set where one of them has an upper
 * case letter of ASCII, or a character beyond ASCII. The bits below it say which of the columns the event has, by their indices.
 */
export const HAS_UPPERCASE_OR_NON_ASCII_BIT = BATCH_COLUMNS.length;

/** Bytes of a mask. Numbers are little-endian, also the lengths before texts and bytes, which have four bytes too. */
export const MASK_BYTES = 4;

/** The fields of events, column by column. */
export interface FieldColumns {
  /**
   * For each of {@link BATCH_COLUMNS} the values of the events that have one, back to back: numbers of 4 or 8 bytes, texts (UTF-8) and
   * bytes after their lengths. That is the encoding PLAIN of Parquet.
   */
  readonly values: readonly (readonly Uint8Array[])[];
  /** A mask for each event. */
  readonly masks: readonly Uint8Array[];
}
