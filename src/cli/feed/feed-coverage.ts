import { DeliveryError } from '../../sinks/delivery-error.ts';

/**
 * Throws DeliveryError `refused` where `now`, the zones that an answer of the feed covers, has some that `before` has not: what they had up
 * to the cursor would be left out. Both are `all` or zone ids with commas between; null: not known.
 */
export function refuseNewZones(before: string | null, now: string | null, statePath: string): void {
  if (before === null || now === null || before === 'all') return;
  const known = new Set(before.split(','));
  const added = now === 'all' ? ['every zone'] : now.split(',').filter((zone) => !known.has(zone));
  if (added.length === 0) return;
  const advice = `name another state with --state, or remove ${statePath}, to begin with the oldest events of all of them`;
  throw new DeliveryError(
    'refused',
    `the key opens more zones than before (${added.join(',')}), whose older events would be left out; ${advice}`,
  );
}
