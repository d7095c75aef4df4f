import type { BatchIndices } from '../../ingest/upload/event-intake.ts';
import { columnIndex } from '../../query/batch-columns.ts';
import { BODY, elementPath, propertyPath } from '../../query/request/request-errors.ts';
import type { EventBatch } from '../../store/event-store.ts';
import { RequestProblem } from '../http/problem.ts';
import type { Caller } from './access.ts';

const ZONE_COLUMN = columnIndex('shieldZoneId');
const ZONE_BYTES = 4;

interface ForeignEvent {
  readonly index: number;
  readonly zone: number;
}

/** The zones of the batch's events, in their order. */
function zonesOf({ fields }: EventBatch): number[] {
  const bytes = Buffer.concat(fields.values[ZONE_COLUMN] ?? []);
  return Array.from({ length: bytes.length / ZONE_BYTES }, (_, event) => bytes.readInt32LE(event * ZONE_BYTES));
}

/**
 * Returns a check for batches of a caller's events, which throws RequestProblem `access.zone_denied` for an event of a zone that the
 * caller's key does not open, naming the first in the input. Undefined for a caller whose key opens every zone.
 */
export function uploadZoneGuard(caller: Caller): ((batch: EventBatch, indices: BatchIndices) => void) | undefined {
  if (caller.opensEveryZone) return undefined;
  return (batch, { events, deadLetters }) => {
    const ofEvents = zonesOf(batch).map((zone, event): ForeignEvent => ({ zone, index: events[event] ?? 0 }));
    // Dead letters count, too: one that becomes valid later would be replayed into the other zone.
    const ofLetters = deadLetters.flatMap(({ index, zoneId: zone }) => (zone === null ? [] : [{ zone, index }]));
    const foreign = [...ofEvents, ...ofLetters].filter(({ zone }) => !caller.opensZone(zone));
    const [first] = foreign.sort((one, other) => one.index - other.index);
    if (first === undefined) return;
    const message = `The event ${first.index} (counted from 0) is of shield zone ${first.zone}, which the access key does not open`;
    const field = propertyPath(elementPath(BODY, first.index), 'shieldZoneId');
    throw new RequestProblem('access.zone_denied', `${message}; nothing from that event's batch on was stored`, {
      errors: [{ field, message }],
    });
  };
}
