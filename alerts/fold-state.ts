import type { GroupValue } from './alert-group.ts';
import type { WindowRange } from './closed-windows.ts';
import type { DueTimes } from './due-times.ts';
import type { EntryBudget } from './entry-budget.ts';
import type { AlertRule } from './rule.ts';

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

/** A window, a group of a window, a value that is counted in a group, or a value that is remembered. */
export interface FoldRow {
  /** The begin of the window, Unix ms UTC; 0 for a value that is remembered. */
  readonly windowMs: number;
  /** As `groupKey` writes it; empty for the window itself. */
  readonly group: string;
  /** The value that is counted in the group; empty for the group itself. */
  readonly value: string;
  /** What is known of it, as JSON can hold it. */
  readonly data: unknown;
}

/** All that a fold knows but for its alerts, as plain data: another one goes on from there. */
export interface FoldState {
  readonly facts: FoldFacts;
  readonly closed: readonly WindowRange[];
  /** A window stands before its groups, and a group before its values. */
  readonly rows: Iterable<FoldRow>;
}

/** Hits of a group that are less than `quiet` apart. All times are Unix ms UTC; those of waiting are of the intake. */
export interface Alert {
  /** Its number among the alerts of the rule in the order in which they were opened, from 1. */
  readonly nth: number;
  readonly id: string;
  /** The values of its group in the order of the rule's `by`. */
  readonly group: readonly GroupValue[];
  /** The begin of the window of its first hit. */
  readonly windowMs: number;
  /** From the begin of its first window to the end of its last. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly hits: number;
  /** When it was told; null: it had too few hits yet, or never enough. */
  readonly toldAtMs: number | null;
  /** The time of the event by which it was told, or the end of the window where a window is decided after it; null: it was not told. */
  readonly completedAtMs: number | null;
  readonly resolvesAtMs: number;
  readonly resolvedAtMs: number | null;
  /** Whether the rule had given up windows or groups by then, so that hits may be missing. */
  readonly isBounded: boolean;
}

/**
 * What is different from a while ago, or all of it. `gone` goes first; rows and alerts are added, or take the place of others; `goneAlerts`
 * go last.
 */
export interface FoldChanges {
  /** Whether `closed` and `rows` are all that there is, and take the place of what was before. */
  readonly isWhole: boolean;
  readonly facts: FoldFacts;
  /** All of them; null where they are the same. */
  readonly closed: readonly WindowRange[] | null;
  /** Groups, each with its values, and where the group is empty windows, each with its groups. */
  readonly gone: readonly Pick<FoldRow, 'windowMs' | 'group'>[];
  readonly rows: readonly FoldRow[];
  /** In the order in which they were opened, or changed. */
  readonly alerts: readonly Alert[];
  /** By their `nth`. `alerts` has those of them that were changed before, too, because they may have been told. */
  readonly goneAlerts: readonly number[];
}

/** What the parts of a fold share. */
export interface FoldParts {
  readonly rule: AlertRule;
  readonly retentionMs: number;
  readonly facts: Mutable<FoldFacts>;
  readonly dues: DueTimes;
  /** Takes hits of groups. */
  readonly book: { hit(windowMs: number, group: string, completedAtMs: number): void };
  readonly budget: EntryBudget;
}
