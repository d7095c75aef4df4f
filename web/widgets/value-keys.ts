/**
 * Moves the focus among the values in an element with the arrow keys, Home and End. Left and right go to the list beside, where there are
 * several.
 */
export function moveAmongValues(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const inside = event.currentTarget as HTMLElement;
  if (!target.matches('.value')) return;
  const list = target.closest('ul, tbody');
  const lists = [...inside.querySelectorAll('ul, tbody')];
  const values = [...(list?.querySelectorAll<HTMLElement>('.value') ?? [])];
  const at = values.indexOf(target);
  const beside = (step: number): HTMLElement | undefined => {
    const others = [...(lists[lists.indexOf(list as Element) + step]?.querySelectorAll<HTMLElement>('.value') ?? [])];
    return others[Math.min(at, others.length - 1)];
  };
  const next = {
    ArrowDown: () => values[at + 1],
    ArrowUp: () => values[at - 1],
    Home: () => values[0],
    End: () => values.at(-1),
    ArrowRight: () => beside(1),
    ArrowLeft: () => beside(-1),
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  next()?.focus();
}
