import { cutText } from '../../query/shown-value.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../config/zone-id.ts';
import { RequestProblem } from './problem.ts';

/** The `shieldZoneId` of a path. Throws RequestProblem `request.invalid` unless it is a zone id. */
export function parseZoneId(text: string): number {
  const zoneId = zoneIdIn(text);
  if (zoneId !== null) return zoneId;
  const message = `${JSON.stringify(cutText(text))} is not a whole number ${ZONE_ID_RANGE}`;
  throw new RequestProblem('request.invalid', `shieldZoneId: ${message}`, { errors: [{ field: 'shieldZoneId', message }] });
}
