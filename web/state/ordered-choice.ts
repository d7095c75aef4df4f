/** A list in an order of the user's, like the dimensions of groups and the columns of a table. */

/** Moves an element by so many places; at an end it stays there. */
export function moved<Item>(list: readonly Item[], item: Item, by: number): readonly Item[] {
  const from = list.indexOf(item);
  if (from === -1) return list;
  const to = Math.max(0, Math.min(list.length - 1, from + by));
  return list.toSpliced(from, 1).toSpliced(to, 0, item);
}

/** Moves an element to the place of another one, as when it is dropped on it. */
export function movedTo<Item>(list: readonly Item[], item: Item, target: Item): readonly Item[] {
  const [from, to] = [list.indexOf(item), list.indexOf(target)];
  return from === -1 || to === -1 ? list : moved(list, item, to - from);
}
