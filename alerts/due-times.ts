import { Heap } from './heap.ts';

/** What falls due at a time: of the same time in the order of the kinds, then by the begin of the window and the group. */
export interface Due {
  /** Unix ms UTC. */
  readonly atMs: number;
  readonly kind: (typeof KINDS)[number];
  /** The begin of the window, or of the first hit of the alert, Unix ms UTC; 0 for a value. */
  readonly windowMs: number;
  /** The key of the group of the alert, or of the value; empty for a window. */
  readonly group: string;
}

const KINDS = ['decide', 'resolve', 'close', 'forget'] as const;

function isBefore(one: Due, other: Due): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  if (one.kind !== other.kind) return KINDS.indexOf(one.kind) < KINDS.indexOf(other.kind);
  return one.windowMs === other.windowMs ? one.group < other.group : one.windowMs < other.windowMs;
}

/** What falls due, the earliest first. */
export class DueTimes extends Heap<Due> {
  constructor() {
    super(isBefore);
  }
}
