import { wholeNumberIn } from '../integer-ranges.ts';
import type { ZoneSelection } from './search-plan.ts';

/** A part of the zones, known and not: those whose number modulo `modulo`, which is never negative, is `remainder`. */
export interface ZonePart {
  readonly modulo: number;
  readonly remainder: number;
}

/** The zones whose events a reader of the feed gets: of a list maybe none, and of all a part or all. */
export type FeedZones = ZoneSelection | ZonePart;

/** So many readers may share the zones. */
export const MAX_ZONE_PARTS = 1_000;

/** What a text of a part has to be, for messages. */
export const ZONE_PART_FORM = `K/N in whole numbers, 1 <= K <= N <= ${MAX_ZONE_PARTS}, such as 2/4`;

/** Reads `K/N`, the K-th of N parts; null where the text is none. */
export function zonePartIn(text: string): ZonePart | null {
  const [part = '', parts = '', ...others] = text.split('/');
  const modulo = wholeNumberIn(parts, 1, MAX_ZONE_PARTS);
  const number = modulo === null ? null : wholeNumberIn(part, 1, modulo);
  return modulo === null || number === null || others.length > 0 ? null : { modulo: Number(modulo), remainder: Number(number) - 1 };
}

/** Whether all zones of a part are in another one. */
export function hasPart(whole: ZonePart, { modulo, remainder }: ZonePart): boolean {
  return modulo % whole.modulo === 0 && remainder % whole.modulo === whole.remainder;
}

/** The zones of a selection that are in a part. */
export function zonesOfPart(zones: ZoneSelection, part: ZonePart): FeedZones {
  return zones === 'all' ? part : zones.filter((zone) => isOfPart(zone, part));
}

/** Whether the zones are named, so that a store can look at nothing else. */
export function areNamed(zones: FeedZones): zones is readonly number[] {
  return Array.isArray(zones);
}

/** The selected zones; of these, where the selection names none, those that are known. */
export function zonesAmong(zones: FeedZones, known: Iterable<number>): Iterable<number> {
  if (areNamed(zones)) return zones;
  return zones === 'all' ? known : [...known].filter((zone) => isOfPart(zone, zones));
}

/** The remainder of a negative number is negative in JavaScript. */
function isOfPart(zone: number, { modulo, remainder }: ZonePart): boolean {
  return ((zone % modulo) + modulo) % modulo === remainder;
}
