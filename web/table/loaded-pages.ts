import type { LineRange } from './virtual-scroll.ts';

/** Items of one request. */
export const PAGE_ITEMS = 100;

/** Pages that are kept: those nearest to what is in view. */
const KEPT_PAGES = 8;

/**
 * A stretch of one result that fits a table: what the window has from its item `skip` on. `from` and `to` stay as they were when it began,
 * so that events that come in shift no page.
 */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Items at the head of the window that an earlier stretch has. */
  readonly skip: number;
}

/** The items of a stretch that are loaded. */
export interface LoadedPages<Item> {
  readonly stretch: Stretch;
  /** Items of the window; null before the first answer. */
  readonly total: number | null;
  /** By number of the page in the window. */
  readonly pages: ReadonlyMap<number, readonly Item[]>;
}

export function nothingLoaded<Item>(stretch: Stretch): LoadedPages<Item> {
  return { stretch, total: null, pages: new Map() };
}

/** Lines of the table: at most `most`, the rest is for the next stretch. */
export function lineCount({ stretch, total }: LoadedPages<unknown>, most: number): number {
  return Math.min(most, Math.max(0, (total ?? 0) - stretch.skip));
}

/** Whether items follow the last line of the stretch. */
export function hasNext({ stretch, total }: LoadedPages<unknown>, most: number): boolean {
  return (total ?? 0) - stretch.skip > most;
}

/** The item of a line of the table, if it is loaded. */
export function itemAt<Item>({ stretch, pages }: LoadedPages<Item>, line: number): Item | undefined {
  const offset = stretch.skip + line;
  return pages.get(pageOf(offset))?.[offset % PAGE_ITEMS];
}

/** The pages of lines that are not loaded, those in the middle first. */
export function missingPages({ stretch, pages }: LoadedPages<unknown>, { first, end }: LineRange): readonly number[] {
  const lowest = pageOf(stretch.skip + first);
  const highest = pageOf(stretch.skip + Math.max(first, end - 1));
  const middle = (lowest + highest) / 2;
  return Array.from({ length: highest - lowest + 1 }, (_, index) => lowest + index)
    .filter((page) => !pages.has(page))
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
}

function pageOf(offset: number): number {
  return Math.floor(offset / PAGE_ITEMS);
}

/** An answer to the request for a page. */
export interface PageAnswer<Item> {
  readonly page: number;
  readonly items: readonly Item[];
  readonly total: number;
  /** The window's begin that was asked for: later than the stretch's where its events have left the reach of searches. */
  readonly from: number;
}

/**
 * Takes an answer. Events that came late, into the middle of the window, shift what is behind them: the other pages are forgotten then, so
 * that no item is lost or doubled, and are asked for again as they come in view. Events that leave the window at its old end shift nothing.
 */
export function withPage<Item>(loaded: LoadedPages<Item>, answer: PageAnswer<Item>, keyOf: (item: Item) => string): LoadedPages<Item> {
  const { stretch, total } = loaded;
  const lostAtEnd = answer.from > stretch.from && answer.total < (total ?? 0);
  const shifted = total !== null && answer.total !== total && !lostAtEnd;
  const kept = shifted || repeatsItem(loaded, answer, keyOf) ? [] : nearest(loaded.pages, answer.page);
  return { stretch: { ...stretch, from: answer.from }, total: answer.total, pages: new Map([...kept, [answer.page, answer.items]]) };
}

/** Whether a neighbouring page has an item of the answer: as many came late as were lost. */
function repeatsItem<Item>({ pages }: LoadedPages<Item>, { page, items }: PageAnswer<Item>, keyOf: (item: Item) => string): boolean {
  const keys = new Set(items.map(keyOf));
  return [page - 1, page + 1].some((other) => pages.get(other)?.some((item) => keys.has(keyOf(item))));
}

function nearest<Item>(pages: ReadonlyMap<number, Item>, page: number): readonly (readonly [number, Item])[] {
  return [...pages]
    .filter(([other]) => other !== page)
    .sort(([a], [b]) => Math.abs(a - page) - Math.abs(b - page))
    .slice(0, KEPT_PAGES - 1);
}
