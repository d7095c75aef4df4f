import { type ReadonlySignal, signal } from '@preact/signals';
import { type Failure, RequestFailed } from '../api/client.ts';
import { type LoadedPages, missingPages, nothingLoaded, type PageAnswer, type Stretch, withPage } from './loaded-pages.ts';
import type { LineRange } from './virtual-scroll.ts';

/** Loads the pages of a stretch as they come in view, one request at a time. */
export interface PageLoader<Item, Asked> {
  /** Null before the first stretch. */
  readonly loaded: ReadonlySignal<LoadedPages<Item> | null>;
  /** Counts the stretches that were begun. */
  readonly turn: ReadonlySignal<number>;
  /** What the stretch is of. */
  readonly asked: ReadonlySignal<Asked | null>;
  /** Why the last page did not come; nothing more is asked for until {@link PageLoader.retry}. */
  readonly failure: ReadonlySignal<Failure | null>;
  /** Begins a stretch, with a page where one is known. What was under way is given up. */
  readonly start: (asked: Asked, stretch: Stretch, first?: PageAnswer<Item>) => void;
  /** Says which lines are in view. */
  readonly want: (range: LineRange) => void;
  readonly retry: () => void;
}

interface LoaderOptions<Item, Asked> {
  readonly ask: (asked: Asked, stretch: Stretch, page: number, signal: AbortSignal) => Promise<PageAnswer<Item>>;
  readonly keyOf: (item: Item) => string;
}

export function createPageLoader<Item, Asked>({ ask, keyOf }: LoaderOptions<Item, Asked>): PageLoader<Item, Asked> {
  const loaded = signal<LoadedPages<Item> | null>(null);
  const asked = signal<Asked | null>(null);
  const turn = signal(0);
  const failure = signal<Failure | null>(null);
  let wanted: LineRange = { first: 0, end: 1 };
  let underWay: { readonly page: number; readonly abort: AbortController } | null = null;

  function giveUp(): void {
    underWay?.abort.abort();
    underWay = null;
  }

  function start(question: Asked, stretch: Stretch, first?: PageAnswer<Item>): void {
    giveUp();
    wanted = { first: 0, end: 1 };
    failure.value = null;
    asked.value = question;
    turn.value += 1;
    const empty = nothingLoaded<Item>(stretch);
    loaded.value = first === undefined ? empty : withPage(empty, first, keyOf);
    void loadNext();
  }

  function want(range: LineRange): void {
    wanted = range;
    if (loaded.peek() === null) return;
    // A page that has been scrolled past is not waited for.
    if (underWay !== null && !stillMissing().includes(underWay.page)) giveUp();
    void loadNext();
  }

  function stillMissing(): readonly number[] {
    const now = loaded.peek();
    if (now === null) return [];
    // Before the first answer nobody knows how many lines there are to look at.
    if (now.total === null) return missingPages(now, { first: 0, end: 1 });
    const end = Math.min(wanted.end, Math.max(0, now.total - now.stretch.skip));
    return wanted.first < end ? missingPages(now, { first: wanted.first, end }) : [];
  }

  async function loadNext(): Promise<void> {
    const [page] = stillMissing();
    const [question, now] = [asked.peek(), loaded.peek()];
    if (underWay !== null || failure.peek() !== null || page === undefined || question === null || now === null) return;
    const abort = new AbortController();
    underWay = { page, abort };
    try {
      const answer = await ask(question, now.stretch, page, abort.signal);
      if (abort.signal.aborted) return;
      loaded.value = withPage(loaded.peek() ?? now, answer, keyOf);
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof RequestFailed)) throw error;
      failure.value = error.failure;
    }
    underWay = null;
    await loadNext();
  }

  function retry(): void {
    failure.value = null;
    void loadNext();
  }

  return { loaded, asked, turn, failure, start, want, retry };
}
