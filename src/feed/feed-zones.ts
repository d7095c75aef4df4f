import { cutText } from '../../query/shown-value.ts';
import type { Caller } from '../auth/access.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../config/zone-id.ts';
import { RequestProblem } from '../http/problem.ts';

/**
 * The zones that a path asks for: one, a list, or `all`, which are those that the caller's key opens. Ascending, each once.
 * Throws RequestProblem `request.invalid`, or `access.zone_denied` with the first zone that the key does not open.
 */
export function feedZones(text: string, caller: Caller): readonly number[] | 'all' {
  if (text === 'all') {
    return caller.zones === 'all' ? 'all' : ascending(caller.zones);
  }
  const zones = text.split(',').map((part) => {
    const zone = zoneIdIn(part);
    if (zone !== null) return zone;
    const message = `${JSON.stringify(cutText(part))} is not a whole number ${ZONE_ID_RANGE}; allowed: one zone, several with commas between, or all`;
    throw new RequestProblem('request.invalid', `shieldZoneId: ${message}`, { errors: [{ field: 'shieldZoneId', message }] });
  });
  const denied = zones.find((zone) => !caller.opensZone(zone));
  if (denied !== undefined) {
    throw new RequestProblem('access.zone_denied', `The access key does not open shield zone ${denied}`);
  }
  return ascending(zones);
}

function ascending(zones: Iterable<number>): number[] {
  return [...new Set(zones)].sort((a, b) => a - b);
}
