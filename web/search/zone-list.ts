import { signal } from '@preact/signals';
import { askUpToNow, RequestFailed } from '../api/client.ts';
import { type ZoneCount, zonesIn } from '../api/explore.ts';
import { explorer } from '../state/explorer.ts';
import { windowOf } from '../state/time-range.ts';

/** What is known of the zones that have events. */
export type ZoneList =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'known'; readonly zones: readonly ZoneCount[] }
  | { readonly kind: 'failed'; readonly message: string };

export const zoneList = signal<ZoneList>({ kind: 'unknown' });

let underWay = new AbortController();

/** Asks which zones have events in the time that is chosen; what was known stays until the answer. */
export async function loadZones(): Promise<void> {
  underWay.abort();
  const mine = new AbortController();
  underWay = mine;
  try {
    const zones = await askUpToNow((now) => zonesIn(windowOf(explorer.peek().range, now), mine.signal));
    zoneList.value = { kind: 'known', zones };
  } catch (error) {
    if (mine.signal.aborted) return;
    if (!(error instanceof RequestFailed)) throw error;
    zoneList.value = { kind: 'failed', message: error.message };
  }
}
