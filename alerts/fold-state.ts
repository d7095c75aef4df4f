import type { Alert } from './alert-book.ts';
import type { WindowRange } from './closed-windows.ts';

export type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

/** The numbers of a fold. All times are Unix ms UTC. */
export interface FoldFacts {
  /** The intake time up to which everything is counted. It never goes back. */
  readonly timeMs: number;
  /** How often an event came after a window of it had closed. */
  readonly tooLate: number;
  /** How often a window was closed early, groups or values were given up, or an alert was resolved early, because there were too many. */
  readonly bounded: number;
  /** How many alerts were opened. */
  readonly opened: number;
  /** How many events of its zones were read, for this rule or others. Those since the last change go with the process. */
  readonly read: number;
  /** How many of them the rule is about. */
  readonly counted: number;
  /** Before this time of the intake nothing that is new, and no window of `more_than_before`, is a hit: too little is known for it. */
  readonly hitsFromMs: number;
  /** The windows that begin from here on have all their events; those before may have been given up. Of `more_than_before`. */
  readonly historyFromMs: number;
}

export const NO_FACTS: FoldFacts = {
  timeMs: 0,
  tooLate: 0,
  bounded: 0,
  opened: 0,
  read: 0,
  counted: 0,
  hitsFromMs: 0,
  historyFromMs: 0,
};

/** A window that is kept. */
export interface KeptWindow {
  readonly beginMs: number;
  /** From then on its events are too late. */
  readonly closesAtMs: number;
  /** When it is decided whether its groups are hits; null where nothing came since that was done, or where every event decides. */
  readonly decideAtMs: number | null;
  /** Whether groups of it were given up, so that the counts of those that came later are not whole. */
  readonly isCut: boolean;
}

/** A group of a window: its events so far. */
export interface KeptEntry {
  readonly windowMs: number;
  /** As `groupKey` writes it. */
  readonly group: string;
  readonly count: number;
  /** How many of them meet the condition `part`. */
  readonly part: number;
  /** False once it has hit, or where its counts are not whole. */
  readonly mayHit: boolean;
}

/** A value of a group of a window that has not hit, where values are counted. */
export interface KeptValue {
  readonly windowMs: number;
  readonly group: string;
  readonly value: string;
}

/** A value of a zone that is known, and the intake time of its last event. */
export interface RememberedValue {
  /** The zone and the value, as `groupKey` writes them. */
  readonly group: string;
  readonly lastMs: number;
}

interface FoldRows {
  readonly windows: readonly KeptWindow[];
  readonly entries: readonly KeptEntry[];
  readonly values: readonly KeptValue[];
  readonly remembered: readonly RememberedValue[];
  /** In the order in which they were opened. */
  readonly alerts: readonly Alert[];
}

/** All that a fold knows, as plain data: another one goes on from there. */
export interface FoldState extends FoldRows {
  readonly facts: FoldFacts;
  readonly closed: readonly WindowRange[];
}

/**
 * What is different from the state of a while ago. First goes what is gone, a window with its entries and values, and an entry with its
 * values; then rows are added, or take the place of those with the same `beginMs`, `windowMs` and `group`, `group`, or `nth`.
 */
export interface FoldChanges extends FoldRows {
  readonly facts: FoldFacts;
  /** All of them; null where they are the same. */
  readonly closed: readonly WindowRange[] | null;
  readonly goneWindows: readonly number[];
  readonly goneEntries: readonly Pick<KeptEntry, 'windowMs' | 'group'>[];
  readonly goneRemembered: readonly string[];
  /** By their `nth`. */
  readonly goneAlerts: readonly number[];
}
