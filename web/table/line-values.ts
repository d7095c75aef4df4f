/** Where a value stands in a table: the number of its line, and its place among the values of the line that open menus. */
export interface ValuePlace {
  readonly line: number;
  readonly at: number;
}

/** The place in a line before its first value. */
export const LINE_ITSELF = -1;

const LINE = '[role=rowgroup] > [role=row]';

function valuesOf(line: Element | null): readonly HTMLElement[] {
  return [...(line?.querySelectorAll<HTMLElement>('.value') ?? [])];
}

/** Where a value stands; null where the element is no value of a line. */
export function placeOfValue(element: HTMLElement): ValuePlace | null {
  const line = element.closest(LINE);
  const at = valuesOf(line).indexOf(element);
  return line === null || at === -1 ? null : { line: Number(line.getAttribute('aria-rowindex')) - 2, at };
}

/** The value at a place of a table; absent where the line has none there, is not loaded, or is not drawn. */
export function valueAt(table: HTMLElement, { line, at }: ValuePlace): HTMLElement | undefined {
  return valuesOf(table.querySelector(`${LINE}[aria-rowindex="${line + 2}"]`))[at];
}
