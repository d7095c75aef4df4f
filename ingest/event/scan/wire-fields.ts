import { TEXT_FIELDS } from '../../../query/event-fields.ts';

/** The members of an event on the wire that have a meaning; every other one belongs into `log`. */
export const WIRE_FIELDS = ['logId', 'shieldZoneId', 'timestamp', 'log', ...TEXT_FIELDS] as const;

/** Places in {@link WIRE_FIELDS}. The text fields follow in the order of `TEXT_FIELDS`. */
export const LOG_ID = 0;
export const ZONE_ID = 1;
export const TIMESTAMP = 2;
export const LOG = 3;
export const FIRST_TEXT = 4;
export const IP = WIRE_FIELDS.indexOf('ip');
export const URL = WIRE_FIELDS.indexOf('url');
export const ASN = WIRE_FIELDS.indexOf('asn');

/** No two names have the same length and last byte: by these a field is found, then the name is compared. */
const LONGEST_NAME = 16;
const FIELD_BY_SHAPE = new Int8Array(LONGEST_NAME * 256).fill(-1);
/** The bytes of all names, {@link LONGEST_NAME} places for each. */
const NAME_BYTES = new Uint8Array(LONGEST_NAME * WIRE_FIELDS.length);
for (const [field, name] of WIRE_FIELDS.entries()) {
  FIELD_BY_SHAPE[shapeOf(name.length, name.charCodeAt(name.length - 1))] = field;
  NAME_BYTES.set(Buffer.from(name), field * LONGEST_NAME);
}

/** The place in {@link WIRE_FIELDS} of the name that stands in `text`, or -1 where it is none of them. */
export function wireFieldAt(text: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length === 0 || length >= LONGEST_NAME) {
    return -1;
  }
  const field = FIELD_BY_SHAPE[shapeOf(length, text[end - 1]!)]!;
  if (field < 0) {
    return -1;
  }
  for (let name = field * LONGEST_NAME, index = start; index < end; name++, index++) {
    if (NAME_BYTES[name] !== text[index]) {
      return -1;
    }
  }
  return field;
}

function shapeOf(length: number, lastByte: number): number {
  return length * 256 + lastByte;
}
