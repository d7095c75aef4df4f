import { TEXT_FIELDS } from '../query/event-fields.ts';

/** The members of an event on the wire that have a meaning; every other one belongs into `log`. */
export const WIRE_FIELDS = ['logId', 'shieldZoneId', 'timestamp', 'log', ...TEXT_FIELDS] as const;

export type WireField = (typeof WIRE_FIELDS)[number];

/** Places in {@link WIRE_FIELDS}. The text fields follow in the order of `TEXT_FIELDS`. */
export const LOG_ID = 0;
export const ZONE_ID = 1;
export const TIMESTAMP = 2;
export const LOG = 3;
export const FIRST_TEXT = 4;
export const IP = WIRE_FIELDS.indexOf('ip');
export const ASN = WIRE_FIELDS.indexOf('asn');

const NAMES = WIRE_FIELDS.map((name) => Buffer.from(name));
const BY_LENGTH: readonly (readonly number[])[] = Array.from({ length: 16 }, (_, length) =>
  NAMES.flatMap((name, field) => (name.length === length ? [field] : [])),
);

/** The place in {@link WIRE_FIELDS} of the name that stands in `text`, or -1 where it is none of them. */
export function wireFieldAt(text: Uint8Array, start: number, end: number): number {
  const candidates = BY_LENGTH[end - start];
  if (candidates === undefined) {
    return -1;
  }
  for (let candidate = 0; candidate < candidates.length; candidate++) {
    const field = candidates[candidate]!;
    const name = NAMES[field]!;
    let place = 0;
    while (place < name.length && name[place] === text[start + place]) {
      place++;
    }
    if (place === name.length) {
      return field;
    }
  }
  return -1;
}
