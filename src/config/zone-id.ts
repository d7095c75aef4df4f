import { INT32 } from '../../query/request/wire-readers.ts';

const [MIN, MAX] = [Number(INT32.min), Number(INT32.max)];

/** The range of zone ids, for messages. */
export const ZONE_ID_RANGE = `${MIN}..${MAX}`;

/** Parses a zone id in decimal digits; null where the text is none or has more than 32 bits. */
export function zoneIdIn(text: string): number | null {
  // Adding 0 makes 0 of -0.
  const zoneId = /^-?\d{1,10}$/.test(text) ? Number(text) + 0 : Number.NaN;
  return zoneId >= MIN && zoneId <= MAX ? zoneId : null;
}
