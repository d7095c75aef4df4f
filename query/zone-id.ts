import { INT32 } from './integer-ranges.ts';

/** Zone ids are integers from here to there, both included. */
export const [SMALLEST_ZONE_ID, LARGEST_ZONE_ID] = [Number(INT32.min), Number(INT32.max)] as const;

/** The range of zone ids, for messages. */
export const ZONE_ID_RANGE = `${SMALLEST_ZONE_ID}..${LARGEST_ZONE_ID}`;

/** Parses a zone id in decimal digits; null where the text is none or has more than 32 bits. */
export function zoneIdIn(text: string): number | null {
  // Adding 0 makes 0 of -0.
  const zoneId = /^-?\d{1,10}$/.test(text) ? Number(text) + 0 : Number.NaN;
  return zoneId >= SMALLEST_ZONE_ID && zoneId <= LARGEST_ZONE_ID ? zoneId : null;
}
