import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { consistent, type ExplorerState } from './explorer-state.ts';
import { linkOf, readLink } from './link.ts';

/** How many changes Back can take back, kept with each entry of the browser's history. */
const depthNow = (): number => Number((history.state as { readonly depth?: number } | null)?.depth ?? 0);

const depth = signal(depthNow());

/** Whether there is a change on this page to take back. */
export const canUndo = computed(() => depth.value > 0);

/**
 * Longer queries stand behind `#`, which browsers do not send: the program and proxies before it refuse requests with long addresses, and
 * the page could not be loaded again.
 */
const LONGEST_QUERY = 6_000;

/** The query of the address, from both places. */
function queryNow(): string {
  const { search, hash } = location;
  return [search, hash]
    .map((part) => part.slice(1))
    .filter((part) => part !== '')
    .join('&');
}

const initial = readLink(queryNow());

const current = signal(consistent(initial.state));

/** What a person has chosen. Change it by {@link apply} alone. */
export const explorer: ReadonlySignal<ExplorerState> = current;

/** What the link said that the page did not understand. */
export const ignoredOfLink = signal<readonly string[]>(initial.ignored);

/** A change that can be taken back from the message about it. */
export interface Change {
  /** What was done, in words, such as `Filtered in`. */
  readonly words: string;
}

/** The last change that says what it did; null when it is taken back or stale. */
export const lastChange = signal<Change | null>(null);

interface ApplyOptions {
  /** The link is exchanged, and Back does not come here again. */
  readonly replace?: boolean;
  /** Shown with a button that takes the change back. */
  readonly words?: string;
}

/** The address of a state, below the origin of the page. */
export function linkTo(state: ExplorerState): string {
  const query = linkOf(state).toString();
  const mark = query.length > LONGEST_QUERY ? '#' : '?';
  return `${location.pathname}${query === '' ? '' : `${mark}${query}`}`;
}

/**
 * Changes the state and the link; Back takes the change back. Everything on the page follows from it: nothing else asks the program. A
 * change of nothing does nothing.
 */
export function apply(change: Partial<ExplorerState>, { replace = false, words }: ApplyOptions = {}): void {
  const next = consistent({ ...current.peek(), ...change });
  const link = linkTo(next);
  if (link === linkTo(current.peek())) return;
  if (!replace) depth.value += 1;
  const entry = { depth: depth.peek() };
  if (replace) history.replaceState(entry, '', link);
  else history.pushState(entry, '', link);
  current.value = next;
  lastChange.value = words === undefined ? null : { words };
}

/** Takes the last change back. */
export function undo(): void {
  if (canUndo.peek()) history.back();
}

addEventListener('popstate', () => {
  const { state, ignored } = readLink(queryNow());
  depth.value = depthNow();
  lastChange.value = null;
  ignoredOfLink.value = ignored;
  current.value = consistent(state);
});
