import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Children, html } from '../widgets/html.ts';
import { LINE_ITSELF, placeOfValue, type ValuePlace, valueAt } from './line-values.ts';
import { type LineRange, lineAfterKey, linesInView, type ScrollView, scrollTopFor } from './virtual-scroll.ts';

export interface TableColumn<Item> {
  readonly key: string;
  readonly title: Children;
  /** The least width, in the font size of the page. */
  readonly leastRem: number;
  /** On narrow windows the least width is this percentage of the window's; absent: the same as elsewhere. */
  readonly leastVw?: number;
  /** The share of the width that is left over; 0: none. */
  readonly grow: number;
  readonly isNumber?: boolean;
  readonly cell: (item: Item) => Children;
}

export interface VirtualTableProps<Item> {
  readonly label: string;
  readonly columns: readonly TableColumn<Item>[];
  readonly count: number;
  readonly itemAt: (line: number) => Item | undefined;
  /** When it changes, the table is another one: it begins at its top. */
  readonly contents: string;
  /** By how many lines all items have moved down since the table began, because others came before them; absent: by none. */
  readonly moved?: number;
  /** The line that is marked, because its item is shown elsewhere. */
  readonly isCurrent: (item: Item) => boolean;
  readonly onView: (range: LineRange) => void;
  /** Enter, or a click on a line. */
  readonly onOpen: (item: Item) => void;
  /** The keyboard has come to another line. */
  readonly onMove?: (item: Item) => void;
}

/** A table with the focus was taken away; the one in its place gets it. */
let isFocusOrphaned = false;

/** Lines above and below the view that are drawn, and loaded, in advance. */
const BEYOND = 8;

/** Height of a line, in the font size of the page. */
const LINE_REM = 1.9;

/** The height of a line in whole pixels, so that lines stay sharp and sums exact. */
export function linePx(): number {
  return Math.round(LINE_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
}

/** The tracks of a CSS grid. */
function tracksOf(columns: readonly TableColumn<never>[]): string {
  return columns.map((column) => (column.grow === 0 ? leastOf(column) : `minmax(${leastOf(column)}, ${column.grow}fr)`)).join(' ');
}

/** A length of CSS. */
function leastOf({ leastRem, leastVw }: TableColumn<never>): string {
  return leastVw === undefined ? `${leastRem}rem` : `min(${leastRem}rem, ${leastVw}vw)`;
}

/** A click waits so long for a second one, which marks a word: what opens would move the words from under the mouse. */
const SECOND_CLICK_MS = 250;

/** What a person clicks in a line instead of the line. */
const CONTROLS = 'button, a, input, select';

/**
 * A table of any length, of which only the lines in view are in the document. It is one stop of the keyboard: arrows up and down, Page up
 * and down, Home and End go from line to line, Enter opens one. Arrows to the side go to the values of a line that open menus, and back.
 */
export function VirtualTable<Item>(props: VirtualTableProps<Item>) {
  const { label, columns, count, itemAt, contents, moved = 0, isCurrent, onView, onOpen, onMove } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  /** A value that gets the focus when its line is drawn. */
  const wanted = useRef<ValuePlace | null>(null);
  const opening = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  const [scrollTopPx, setScrollTop] = useState(0);
  const [viewportPx, setViewport] = useState(0);
  const [active, setActive] = useState(0);
  const rowPx = linePx();
  const view: ScrollView = { scrollTopPx, viewportPx, rowPx, count };
  const range = linesInView(view, BEYOND);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = (): void => setViewport(Math.max(0, element.clientHeight - (head.current?.offsetHeight ?? 0)));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    if (isFocusOrphaned && document.activeElement === document.body) element.focus({ preventScroll: true });
    isFocusOrphaned = false;
    return () => {
      isFocusOrphaned = document.activeElement === element;
      clearTimeout(opening.current);
      observer.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    setScrollTop(0);
    setActive(0);
    wanted.current = null;
  }, [contents]);
  const movedBefore = useRef(moved);
  useLayoutEffect(() => {
    const by = moved - movedBefore.current;
    movedBefore.current = moved;
    const element = scroller.current;
    // At the top there are always the first lines.
    if (element === null || by === 0 || (active === 0 && element.scrollTop === 0)) return;
    setActive(by < 0 ? 0 : Math.min(count - 1, active + by));
    element.scrollTop = by < 0 ? 0 : element.scrollTop + by * rowPx;
    setScrollTop(element.scrollTop);
  }, [moved]);
  useLayoutEffect(() => {
    if (document.activeElement === scroller.current) focusWanted();
  });
  useEffect(() => onView(range), [contents, range.first, range.end, count]);

  const openLine = (line: number): void => {
    const item = itemAt(line);
    if (item !== undefined) onOpen(item);
  };
  const moveTo = (line: number): void => {
    setActive(line);
    scroller.current?.scrollTo({ top: scrollTopFor(line, view) });
    const item = itemAt(line);
    if (item !== undefined) onMove?.(item);
  };
  /** Returns whether the value is there; it is not before its line is drawn and loaded. */
  const focusWanted = (): boolean => {
    const value = scroller.current === null || wanted.current === null ? undefined : valueAt(scroller.current, wanted.current);
    if (value === undefined) return false;
    wanted.current = null;
    value.focus();
    return true;
  };
  const goTo = (place: ValuePlace): void => {
    wanted.current = place.at === LINE_ITSELF ? null : place;
    moveTo(place.line);
    if (!focusWanted()) scroller.current?.focus({ preventScroll: true });
  };
  /** The place that a key goes to; null for another key, and where there is none. */
  const placeAfterKey = (key: string, { line, at }: ValuePlace): ValuePlace | null => {
    const next = lineAfterKey(key, line, view);
    if (next !== null) return { line: next, at };
    if (key === 'ArrowLeft') return at === LINE_ITSELF ? null : { line, at: at - 1 };
    const right = { line, at: at + 1 };
    return key === 'ArrowRight' && scroller.current !== null && valueAt(scroller.current, right) !== undefined ? right : null;
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isOfTable = event.target === event.currentTarget;
    const from = isOfTable ? (wanted.current ?? { line: active, at: LINE_ITSELF }) : placeOfValue(event.target as HTMLElement);
    const to = from === null ? null : placeAfterKey(event.key, from);
    if (to !== null) goTo(to);
    else if (isOfTable && event.key === 'Enter') openLine(active);
    else return;
    event.preventDefault();
  };
  const clicked = (event: MouseEvent, line: number): void => {
    clearTimeout(opening.current);
    // A user who selects text to copy it does not want to open the line.
    if ((event.target as Element).closest(CONTROLS) !== null || getSelection()?.isCollapsed === false) return;
    setActive(line);
    wanted.current = null;
    const item = itemAt(line);
    if (item !== undefined) opening.current = setTimeout(() => onOpen(item), SECOND_CLICK_MS);
  };

  const lines = Array.from({ length: range.end - range.first }, (_, index) => range.first + index);
  const isActiveDrawn = active >= range.first && active < range.end;
  return html`<div
    class="grid"
    role="grid"
    tabindex="0"
    data-shortcut="e"
    aria-label=${label}
    data-held=${scrollTopPx > 0 ? '' : undefined}
    aria-rowcount=${count + 1}
    aria-activedescendant=${isActiveDrawn ? `${id}-${active}` : undefined}
    ref=${scroller}
    style=${{ '--tracks': tracksOf(columns), '--least': `calc(${columns.map(leastOf).join(' + ')})` }}
    onScroll=${(event: Event) => setScrollTop((event.currentTarget as HTMLElement).scrollTop)}
    onKeyDown=${pressed}
  >
    <div class="grid-head" role="row" aria-rowindex="1" ref=${head}>
      ${columns.map(
        ({ key, title, isNumber = false }) => html`<div key=${key} role="columnheader" class=${isNumber ? 'number' : ''}>${title}</div>`,
      )}
    </div>
    <div class="grid-body" role="rowgroup" style=${{ height: `${count * rowPx}px` }}>
      ${lines.map((line) => {
        const item = itemAt(line);
        return html`<div
          key=${line}
          id=${`${id}-${line}`}
          class=${`grid-line ${line === active ? 'active' : ''}`}
          role="row"
          aria-rowindex=${line + 2}
          aria-current=${item !== undefined && isCurrent(item) ? 'true' : undefined}
          style=${{ top: `${line * rowPx}px`, height: `${rowPx}px` }}
          onClick=${(event: MouseEvent) => clicked(event, line)}
        >
          ${columns.map(
            ({ key, isNumber = false, cell }) =>
              html`<div key=${key} role="gridcell" class=${isNumber ? 'number' : ''}>${item === undefined ? '…' : cell(item)}</div>`,
          )}
        </div>`;
      })}
    </div>
  </div>`;
}
