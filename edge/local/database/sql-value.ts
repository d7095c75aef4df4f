/** A value of the database, 64-bit integers as bigint so that none loses digits. */
export type SqlValue = null | bigint | number | string | Uint8Array;

/** JSON has no word for infinity, but every reader takes a number too large for a double as one; `-0` would become `0`. */
function floatText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '1e999';
  if (value === Number.NEGATIVE_INFINITY) return '-1e999';
  return Object.is(value, -0) ? '-0.0' : String(value);
}

/** A value as the protocol writes it, in JSON text. Blobs are base64 with padding. */
export function valueJson(value: SqlValue): string {
  if (value === null) return '{"type":"null"}';
  switch (typeof value) {
    case 'bigint':
      return `{"type":"integer","value":"${value}"}`;
    case 'number':
      return `{"type":"float","value":${floatText(value)}}`;
    case 'string':
      return `{"type":"text","value":${JSON.stringify(value)}}`;
    default:
      return `{"type":"blob","base64":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"}`;
  }
}
