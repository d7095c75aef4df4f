import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { accessKey } from '../api/access-key.ts';
import { askUpToNow, RequestFailed } from '../api/client.ts';
import { type ZoneCount, zonesIn } from '../api/explore.ts';
import { explorer } from '../state/explorer.ts';
import { windowOfRange } from '../state/time-range.ts';

/** What is known of the zones that have events. */
export type ZoneList =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'known'; readonly zones: readonly ZoneCount[] }
  | { readonly kind: 'failed'; readonly message: string };

/** What the zones depend on. */
const about = computed(() => JSON.stringify([explorer.value.range, accessKey.value]));

const last = signal<{ readonly about: string; readonly list: ZoneList } | null>(null);

/** The zones with events in the time that is chosen, as far as they are known. */
export const knownZones: ReadonlySignal<ZoneList> = computed(() =>
  last.value?.about === about.value ? last.value.list : { kind: 'unknown' },
);

let underWay = new AbortController();

/** Asks which zones have events in the time that is chosen; what is known of the same time stays until the answer. */
export async function loadZones(): Promise<void> {
  underWay.abort();
  const mine = new AbortController();
  underWay = mine;
  const asked = about.peek();
  try {
    const zones = await askUpToNow(
      (now) => windowOfRange(explorer.peek().range, now),
      (window) => zonesIn(window, mine.signal),
    );
    if (!mine.signal.aborted) last.value = { about: asked, list: { kind: 'known', zones } };
  } catch (error) {
    if (mine.signal.aborted) return;
    if (!(error instanceof RequestFailed)) throw error;
    last.value = { about: asked, list: { kind: 'failed', message: error.message } };
  }
}
