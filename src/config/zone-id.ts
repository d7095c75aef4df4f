const LEAST = -2_147_483_648;
const MOST = 2_147_483_647;

/** What a zone id may be, for messages. */
export const ZONE_ID_RANGE = `${LEAST}..${MOST}`;

/** A zone id in decimal digits, with a minus where it is negative; null where the text is none or goes past 32 bits. */
export function zoneIdIn(text: string): number | null {
  // Adding 0 makes 0 of -0.
  const zoneId = /^-?\d{1,10}$/.test(text) ? Number(text) + 0 : Number.NaN;
  return zoneId >= LEAST && zoneId <= MOST ? zoneId : null;
}
