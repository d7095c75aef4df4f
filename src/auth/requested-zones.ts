import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import { cutText } from '../../query/request/request-errors.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { RequestProblem } from '../http/problem.ts';
import { type Caller, requireZone } from './access.ts';

/** What the path of a route about zones has. */
export interface ZonePath {
  readonly Params: { readonly shieldZoneId: string };
}

/**
 * Reads the zones in the path of a route that takes several: one, a list with commas between, or `all`, which stands for the zones that the
 * caller's key opens. Throws RequestProblem `request.invalid`, or `access.zone_denied` with the first zone that the key does not open.
 */
export function requestedZones(text: string, caller: Caller): ZoneSelection {
  if (text === 'all') return openedZones(caller);
  const zones = text.split(',').map((part) => {
    const zone = zoneIdIn(part);
    if (zone !== null) return zone;
    const allowed = 'one zone, several with commas between, or all';
    const message = `${JSON.stringify(cutText(part))} is not a whole number ${ZONE_ID_RANGE}; allowed: ${allowed}`;
    throw new RequestProblem('request.invalid', `shieldZoneId: ${message}`, { errors: [{ field: 'shieldZoneId', message }] });
  });
  for (const zone of zones) requireZone(caller, zone);
  return ascending(zones);
}

/** Whether the path names a list of zones or `all`, so that the rows of the answer have to say their zone. */
export function namesSeveralZones(text: string): boolean {
  return text === 'all' || text.includes(',');
}

/** The zones that the caller's key opens. */
export function openedZones({ zones }: Pick<Caller, 'zones'>): ZoneSelection {
  return zones === 'all' ? 'all' : ascending(zones);
}

function ascending(zones: Iterable<number>): number[] {
  return [...new Set(zones)].sort((a, b) => a - b);
}
