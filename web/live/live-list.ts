import type { DropReason } from './watch-tail.ts';

/** The newest events of a tail. All lists have the newest first and are bounded. */
export interface LiveList<Row> {
  readonly most: number;
  readonly shown: readonly Row[];
  /** Rows that came in while the list is paused; they are shown when it goes on. */
  readonly waiting: readonly Row[];
  /** Events that came in during the pause, also those that `waiting` has no room for. */
  readonly waitingCount: number;
  readonly isPaused: boolean;
  readonly seen: number;
  readonly dropped: Readonly<Record<DropReason, number>>;
}

export function emptyList<Row>(most: number): LiveList<Row> {
  return { most, shown: [], waiting: [], waitingCount: 0, isPaused: false, seen: 0, dropped: { unread: 0, costly: 0 } };
}

/** Adds rows, the newest last, as they came in since the list was drawn. */
export function withRows<Row>(list: LiveList<Row>, rows: readonly Row[]): LiveList<Row> {
  const newest = rows.slice(-list.most).reverse();
  const seen = list.seen + rows.length;
  if (!list.isPaused) return { ...list, seen, shown: [...newest, ...list.shown].slice(0, list.most) };
  const waiting = [...newest, ...list.waiting].slice(0, list.most);
  return { ...list, seen, waiting, waitingCount: list.waitingCount + rows.length };
}

export function withDropped<Row>(list: LiveList<Row>, count: number, reason: DropReason): LiveList<Row> {
  return { ...list, dropped: { ...list.dropped, [reason]: list.dropped[reason] + count } };
}

/** Pauses the list, or goes on with what came in meanwhile. */
export function withPause<Row>(list: LiveList<Row>, isPaused: boolean): LiveList<Row> {
  if (isPaused) return { ...list, isPaused };
  return { ...list, isPaused, shown: [...list.waiting, ...list.shown].slice(0, list.most), waiting: [], waitingCount: 0 };
}

/** What is to be said of the list beside its state. */
export function listWords<Row>({ seen, dropped, isPaused, waitingCount }: LiveList<Row>): string {
  const words = [`${count(seen)} events`];
  if (dropped.unread > 0) words.push(`${count(dropped.unread)} left out, because this page did not read fast enough`);
  if (dropped.costly > 0) words.push(`${count(dropped.costly)} left out, because trying the conditions on them costs too much`);
  if (isPaused) words.push(`paused, ${count(waitingCount)} new`);
  return words.join('; ');
}

function count(number: number): string {
  return number.toLocaleString('en');
}
