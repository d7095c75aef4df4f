/**
 * The highest table in CSS pixels. Firefox lets an element be 17.9 million high, Chromium 33.5 million device pixels, which are a fifth of
 * that in CSS pixels at a zoom of 500 %.
 */
export const MAX_SCROLL_PX = 6_000_000;

/** A table whose lines all have one height, as far as it is scrolled. */
export interface ScrollView {
  readonly scrollTopPx: number;
  readonly viewportPx: number;
  readonly rowPx: number;
  readonly count: number;
}

/** Lines from `first` up to, not including, `end`. */
export interface LineRange {
  readonly first: number;
  readonly end: number;
}

/** Lines that a table of this height of lines may have at most. */
export function mostLines(rowPx: number): number {
  return Math.floor(MAX_SCROLL_PX / rowPx);
}

/** The lines that are at least partly in view, and `beyond` more on each side. */
export function linesInView({ scrollTopPx, viewportPx, rowPx, count }: ScrollView, beyond: number): LineRange {
  const top = Math.max(0, Math.min(scrollTopPx, count * rowPx - viewportPx));
  const first = Math.max(0, Math.floor(top / rowPx) - beyond);
  const end = Math.min(count, Math.ceil((top + viewportPx) / rowPx) + beyond);
  return { first: Math.min(first, end), end };
}

/** The scroll position nearest to the present one at which the whole line is in view. */
export function scrollTopFor(index: number, { scrollTopPx, viewportPx, rowPx }: ScrollView): number {
  const top = index * rowPx;
  if (top < scrollTopPx) return top;
  return Math.max(scrollTopPx, top + rowPx - viewportPx);
}

/** The line that a key of the table goes to, from `index`; null for another key. */
export function lineAfterKey(key: string, index: number, { viewportPx, rowPx, count }: ScrollView): number | null {
  const pageful = Math.max(1, Math.floor(viewportPx / rowPx) - 1);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + pageful,
    PageUp: index - pageful,
    Home: 0,
    End: count - 1,
  };
  const to = Object.hasOwn(steps, key) ? steps[key] : undefined;
  return to === undefined || count === 0 ? null : Math.max(0, Math.min(count - 1, to));
}
