/**
 * The columns in which the fields of a batch's events are handed to the store, and in which its journal has them. They are those of a
 * segment, so that nothing has to be worked out anew when events are flushed.
 *
 * - `shieldZoneId`, `timestamp` (Unix ms UTC): in every event
 * - `logIdBytes`, `logIdText`: of an id of 32 hexadecimal digits in lower case the 16 bytes, and no text; of a UUID in lower case the 16
 * bytes, and the text `-`; any other id is the text, without bytes
 * - the text fields of `query/event-fields.ts`, absent when the event has none (an empty text is a value); `url` in two parts: `urlHead` is
 * what comes before the first `?`, with it, `urlTail` what comes behind, maybe empty
 * - `ipHigh`, `ipLow`: the upper and lower 64 bits of `ip` as an IPv6 number (IPv4 as `::ffff:a.b.c.d`), both absent when `ip` is absent or
 * is not an address
 */
export const BATCH_COLUMNS = [
  { name: 'shieldZoneId', type: 'int32' },
  { name: 'timestamp', type: 'int64' },
  { name: 'logIdBytes', type: 'bytes' },
  { name: 'logIdText', type: 'text' },
  { name: 'feature', type: 'text' },
  { name: 'ruleId', type: 'text' },
  { name: 'ruleName', type: 'text' },
  { name: 'ip', type: 'text' },
  { name: 'ja4', type: 'text' },
  { name: 'ua', type: 'text' },
  { name: 'urlHead', type: 'text' },
  { name: 'urlTail', type: 'text' },
  { name: 'asn', type: 'text' },
  { name: 'country', type: 'text' },
  { name: 'action', type: 'text' },
  { name: 'ipHigh', type: 'uint64' },
  { name: 'ipLow', type: 'uint64' },
] as const;

export type BatchColumn = (typeof BATCH_COLUMNS)[number]['name'];

/** The place of a column in {@link BATCH_COLUMNS}. */
export function columnIndex(name: BatchColumn): number {
  return BATCH_COLUMNS.findIndex((column) => column.name === name);
}

/**
 * The bit of an event's mask that says whether lower case changes its `ip` or `urlTail`, or may do so: set where one of them has an upper
 * case letter of ASCII, or a character beyond ASCII. The bits below it say which of the columns the event has, by their places.
 */
export const HAS_UPPERCASE_OR_NON_ASCII_BIT = BATCH_COLUMNS.length;

/** Bytes of a mask. Numbers are little-endian, also the lengths before texts and bytes, which have four bytes too. */
export const MASK_BYTES = 4;

/** The fields of events, column by column. */
export interface FieldColumns {
  /**
   * For each of {@link BATCH_COLUMNS} the values of the events that have one, back to back: numbers of 4 or 8 bytes, texts (UTF-8) and
   * bytes behind their lengths. That is the encoding PLAIN of Parquet.
   */
  readonly values: readonly (readonly Uint8Array[])[];
  /** A mask for each event. */
  readonly masks: readonly Uint8Array[];
}
