import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { accessKey } from '../api/access-key.ts';
import { fetchWithKey } from '../api/client.ts';
import { type ParsedRow, readRow, rowKey } from '../api/parsed-row.ts';
import { programNow } from '../api/program-clock.ts';
import type { Neighbours } from '../events/event-pages.ts';
import { explorer } from '../state/explorer.ts';
import { tailPath } from '../state/tail-request.ts';
import { countText, numberOf } from '../widgets/format.ts';
import {
  type Arrivals,
  cleared,
  emptyList,
  type LiveList,
  rateOf,
  withArrivals,
  withDropped,
  withPause,
  withRows,
  withUnwatched,
} from './live-list.ts';
import { takeTurn } from './stream-turn.ts';
import { type TailState, watchTail } from './watch-tail.ts';

/** Newer events push out older ones beyond this many, or beyond so many characters of their logs. */
const MOST = { rows: 500, characters: 32 * 1024 * 1024 };

/** The shortest time between two drawings of the table. */
const DRAW_MS = 200;

const list = signal<LiveList>(emptyList(MOST));
const state = signal<TailState>({ kind: 'connecting', detail: '' });
const turn = signal(0);
const rate = signal(0);
const told = signal('');

/** The pause between two sentences of a screen reader on how many events came. */
const TOLD_MS = 10_000;

export const liveList: ReadonlySignal<LiveList> = list;
export const tailState: ReadonlySignal<TailState> = state;

/** Events a second. */
export const liveRate: ReadonlySignal<number> = rate;

/** How many events have come, as a screen reader hears it; empty while none do. */
export const liveNews: ReadonlySignal<string> = told;

/** The events beside one of the table. */
export function liveNeighboursOf(key: string): Neighbours {
  const { shown } = list.value;
  const at = shown.findIndex((row) => rowKey(row) === key);
  return at === -1 ? { newer: undefined, older: undefined } : { newer: shown[at - 1], older: shown[at + 1] };
}

/** Pauses the table, or goes on with what came in meanwhile. The tail is read on. */
export function pause(isPaused: boolean): void {
  list.value = withPause(list.peek(), isPaused);
}

/** Empties the table. What comes in is shown on. */
export function clear(): void {
  list.value = cleared(list.peek());
}

/** Opens a tail anew that the program has refused. */
export function watchAgain(): void {
  turn.value += 1;
}

/**
 * The locks of the browser where the page came over HTTP/1.1, on which each stream has a connection of its own; null elsewhere, and where
 * the browser has none: without TLS, beyond loopback.
 */
function streamLocks(): LockManager | null {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (navigation?.nextHopProtocol.startsWith('http/1') !== true) return null;
  return (navigator.locks as LockManager | undefined) ?? null;
}

/** Keeps the rate, and what a screen reader is told, as long as a tail is watched; `came()` says how many events it has had. */
function keepCounting(came: () => number, signal: AbortSignal): void {
  let arrivals: readonly Arrivals[] = [];
  let toldAt = { at: performance.now(), count: 0 };
  const count = (): void => {
    const now = { at: performance.now(), count: came() };
    arrivals = withArrivals(arrivals, now);
    rate.value = rateOf(arrivals);
    if (now.at - toldAt.at < TOLD_MS) return;
    told.value = now.count === toldAt.count ? '' : `${numberOf(now.count - toldAt.count)} came, ${countText(now.count)} in all`;
    toldAt = now;
  };
  [rate.value, told.value] = [0, ''];
  count();
  const timer = setInterval(count, 1_000);
  signal.addEventListener('abort', () => clearInterval(timer));
}

function watch(path: string, signal: AbortSignal): void {
  let gathered: ParsedRow[] = [];
  let isDue = false;
  let came = 0;
  keepCounting(() => came, signal);
  const draw = (): void => {
    isDue = false;
    if (signal.aborted) return;
    list.value = withRows(list.peek(), gathered);
    gathered = [];
  };
  void watchTail({
    takeTurn: (onWait) => takeTurn({ tab: document, locks: streamLocks(), onWait, signal }),
    fetchStream: (headers, whileOpen) => fetchWithKey(path, { headers, signal: whileOpen }),
    onRow(text) {
      gathered.push(readRow(text));
      came += 1;
      // A hidden page is drawn rarely; it keeps no more than it would show.
      if (gathered.length > 2 * MOST.rows) draw();
      if (!isDue) setTimeout(draw, DRAW_MS);
      isDue = true;
    },
    onDropped(count, reason) {
      list.value = withDropped(list.peek(), count, reason);
    },
    onState(next) {
      state.value = next;
    },
    onUnwatched(from, to) {
      list.value = withUnwatched(list.peek(), { from, to });
    },
    now: programNow,
    signal,
  });
}

/** Watches while the page is live; other zones or conditions begin a new tail. */
export function startLive(): void {
  const watched = computed(() => (explorer.value.isLive ? tailPath(explorer.value) : null));
  effect(() => {
    const { value: path } = watched;
    void [accessKey.value, turn.value];
    if (path === null) return;
    const abort = new AbortController();
    untracked(() => {
      list.value = emptyList(MOST);
      watch(path, abort.signal);
    });
    return () => abort.abort();
  });
}
