import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { accessKey } from '../api/access-key.ts';
import { type Failure, RequestFailed } from '../api/client.ts';
import { askExplorer } from '../api/explore.ts';
import { type ParsedRow, rowKey } from '../api/parsed-row.ts';
import { apply, explorer } from '../state/explorer.ts';
import type { EventKey } from '../state/explorer-state.ts';

/** The event that is shown whole: that of the link. */
export type OpenedEvent =
  | { readonly kind: 'none' }
  | { readonly kind: 'loading'; readonly key: EventKey }
  | { readonly kind: 'gone'; readonly key: EventKey }
  | { readonly kind: 'failed'; readonly key: EventKey; readonly failure: Failure }
  | { readonly kind: 'shown'; readonly row: ParsedRow };

const current = signal<OpenedEvent>({ kind: 'none' });

export const opened: ReadonlySignal<OpenedEvent> = current;

/** Changes with each wish to have the focus in what is shown. */
export const focusWish = signal(0);

/** The row that was opened or found last: it needs no request. */
let remembered: ParsedRow | null = null;

/** The link that opening an event has made; Back leads to the page without it. */
let openedLink: string | null = null;

function keyOf({ shieldZoneId: zone, timestamp, logId }: ParsedRow): EventKey {
  return { zone, timestamp, logId };
}

/** The same text as `rowKey` of the event. */
function keyText({ zone, timestamp, logId }: EventKey): string {
  return `${zone} ${timestamp} ${logId}`;
}

/** Whether a row is the event of the link. */
export function isOpen(row: ParsedRow): boolean {
  const { event } = explorer.value;
  return event !== null && rowKey(row) === keyText(event);
}

/** Shows an event whole. From one to the next there is no step back, so that Back and Escape lead to the table. */
export function openEvent(row: ParsedRow): void {
  remembered = row;
  const isNext = explorer.peek().event !== null;
  const wasOpened = openedLink === location.href;
  apply({ event: keyOf(row) }, { replace: isNext });
  if (!isNext || wasOpened) openedLink = location.href;
}

/** Opens an event and goes into it with the keyboard. */
export function enterEvent(row: ParsedRow): void {
  openEvent(row);
  focusWish.value += 1;
}

/** Closes the event. Where opening it was the last step, that is taken back. */
export function closeEvent(): void {
  if (openedLink === location.href) history.back();
  else apply({ event: null }, { replace: true });
  openedLink = null;
}

/** Asks for the event of a link again. */
export function reloadEvent(): void {
  const { event } = explorer.peek();
  if (event !== null) void load(event);
}

const MOST_ROWS = 500;

/** The event, or null where the program does not have it any more. Throws RequestFailed. */
async function findEvent({ zone, timestamp, logId }: EventKey, signal: AbortSignal): Promise<ParsedRow | null> {
  const window = { from: timestamp, to: timestamp + 1 };
  for (let page = 0; ; page += 1) {
    const body = { ...window, query: '', filters: [], exclude: [], page, pageSize: MOST_ROWS };
    const { rows, totalPages } = await askExplorer(String(zone), body, signal);
    const found = rows?.find((row) => row.logId === logId);
    if (found !== undefined) return found;
    if (page + 1 >= totalPages) return null;
  }
}

let loading = new AbortController();

async function load(key: EventKey): Promise<void> {
  loading.abort();
  const mine = new AbortController();
  loading = mine;
  if (remembered !== null && rowKey(remembered) === keyText(key)) {
    current.value = { kind: 'shown', row: remembered };
    return;
  }
  current.value = { kind: 'loading', key };
  try {
    const row = await findEvent(key, mine.signal);
    if (mine.signal.aborted) return;
    remembered = row;
    current.value = row === null ? { kind: 'gone', key } : { kind: 'shown', row };
  } catch (error) {
    if (mine.signal.aborted) return;
    if (!(error instanceof RequestFailed)) throw error;
    current.value = isOutOfReach(error.failure) ? { kind: 'gone', key } : { kind: 'failed', key, failure: error.failure };
  }
}

/** The program refuses windows that begin before what is kept, or end after now. */
function isOutOfReach({ status, faults }: Failure): boolean {
  return status === 400 && faults.some(({ field }) => field === 'from' || field === 'to');
}

/** Follows the event of the link. */
export function startOpening(): void {
  const key = computed(() => {
    const { event } = explorer.value;
    return event === null ? null : keyText(event);
  });
  effect(() => {
    void [key.value, accessKey.value];
    untracked(() => {
      const { event } = explorer.peek();
      if (event !== null) return void load(event);
      loading.abort();
      current.value = { kind: 'none' };
    });
  });
}
