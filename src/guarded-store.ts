import type { EventBatch, EventStore } from '../store/event-store.ts';
import type { Caller } from './access.ts';
import { RequestProblem } from './problem.ts';

/** The zone that a JSON text names, whatever it is; undefined where it names none. */
function zoneNamedIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly shieldZoneId?: unknown } | null)?.shieldZoneId;
  } catch {
    // Not JSON: it names no zone, and no replay can make an event of it.
    return undefined;
  }
}

function requireZonesOf(batch: EventBatch, caller: Caller): void {
  const events = Buffer.concat(batch.lines)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  // Dead letters count too: one that is put right later by its clock would be replayed into the other zone.
  const letters = batch.deadLetters.map(({ bytes }) => Buffer.from(bytes).toString('utf8'));
  const zones = new Set([...events, ...letters].map(zoneNamedIn).filter((zone) => typeof zone === 'number'));
  const closed = [...zones].find((zone) => !caller.opensZone(zone));
  if (closed === undefined) return;
  throw new RequestProblem(
    'access.zone_denied',
    `An event is of shield zone ${closed}, which the access key does not open; nothing from that event's batch on was stored`,
  );
}

/**
 * The store as a caller may write to it: a batch with an event of a zone that the caller's key does not open is refused whole with
 * RequestProblem `access.zone_denied`. A caller whose key opens every zone gets the store itself.
 */
export function guardedStore(store: EventStore, caller: Caller): EventStore {
  if (caller.opensEveryZone) return store;
  return {
    append: async (batch) => {
      requireZonesOf(batch, caller);
      return await store.append(batch);
    },
    search: (plan, options) => store.search(plan, options),
    pendingBytes: () => store.pendingBytes(),
    position: (topic, partition) => store.position(topic, partition),
    listDeadLetters: (options) => store.listDeadLetters(options),
    removeDeadLetters: (ids) => store.removeDeadLetters(ids),
    problems: () => store.problems(),
    stats: () => store.stats(),
    close: () => store.close(),
  };
}
