import type { SqlValue } from './sql-value.ts';
import { objectAt, textAt, wrongAt } from './wire-place.ts';

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];

function parseInteger(place: string, value: unknown): bigint {
  const text = textAt(place, value);
  const allowed = 'a whole number of 64 bits, as a string of decimal digits';
  if (!/^[+-]?\d{1,20}$/.test(text)) throw wrongAt(place, value, allowed);
  const parsed = BigInt(text.replace(/^\+/, ''));
  if (parsed < LEAST || parsed > MOST) throw wrongAt(place, value, allowed);
  return parsed;
}

function parseBlob(place: string, value: unknown): Uint8Array {
  const text = textAt(place, value);
  // Node drops whatever is not base64 without a word.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) {
    throw wrongAt(place, value, 'base64, padded or not');
  }
  return Buffer.from(text, 'base64');
}

/** A value of the protocol, `{type: "null" | "integer" | "float" | "text" | "blob", value | base64}`. Throws StatementError. */
export function parseValue(place: string, wire: unknown): SqlValue {
  const { type, value, base64 } = objectAt(place, wire);
  switch (type) {
    case 'null':
      return null;
    case 'integer':
      return parseInteger(`${place}.value`, value);
    case 'float':
      if (typeof value !== 'number') throw wrongAt(`${place}.value`, value, 'a number');
      return value;
    case 'text':
      return textAt(`${place}.value`, value);
    case 'blob':
      return parseBlob(`${place}.base64`, base64);
    default:
      throw wrongAt(`${place}.type`, type, 'null, integer, float, text or blob');
  }
}
