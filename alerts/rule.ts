import { createHash } from 'node:crypto';
import { MINUTE_MS } from '../query/durations.ts';
import type { Dimension, GroupDimension } from '../query/event-fields.ts';
import type { Predicate, ZoneSelection } from '../query/plan/search-plan.ts';
import type { LineSearch } from '../query/search-line.ts';

export const RULE_SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;

/** So many windows of groups are counted at a time where a rule does not say it. */
export const USUAL_MAX_GROUPS = 5_000;

/** A window of `ratio` or `more_than_before` is looked at so long after its end, or after a later event of it, of intake time. */
export const SETTLE_MS = 2 * MINUTE_MS;

/** A share of `ratio` is in so many parts of the whole, and a multiple of `more_than_before` in so many parts of one. */
export const SHARE_UNIT = 10_000;
export const TIMES_UNIT = 100;

export type RuleSeverity = (typeof RULE_SEVERITIES)[number];

/** What makes a window of a group a hit. */
export type RuleKind =
  /** At least so many events. */
  | { readonly kind: 'count'; readonly atLeast: number }
  /** At least so many values of a field; events without one add none. */
  | { readonly kind: 'distinct'; readonly field: GroupDimension; readonly atLeast: number }
  /** At least so many events, of which at least the share, in parts of `SHARE_UNIT`, meets a further condition. */
  | { readonly kind: 'ratio'; readonly part: Predicate; readonly share: number; readonly atLeast: number }
  /** At least so many events, and `times`, in parts of `TIMES_UNIT`, the mean of as many windows before it as `before` says. */
  | { readonly kind: 'more_than_before'; readonly atLeast: number; readonly times: number; readonly before: number }
  /** The first event with a value of a field of which its zone had none for so long. Its window is the minute of the event. */
  | { readonly kind: 'new_value'; readonly field: Dimension; readonly forMs: number }
  /** A zone has had no event for so long. Its window is the minute in which that is found. */
  | { readonly kind: 'silence'; readonly forMs: number };

/** A rule of alerts. All times are milliseconds. */
export interface AlertRule {
  readonly name: string;
  readonly zones: ZoneSelection;
  /** The conditions as they are written. */
  readonly search: LineSearch;
  readonly where: Predicate;
  /** What events are grouped by: none to three; of `new_value` the zone and the field, of `silence` the zone. */
  readonly by: readonly GroupDimension[];
  readonly kind: RuleKind;
  /** The length of windows, an even number. They begin every half of it, in Unix time. */
  readonly windowMs: number;
  /** Hits that are less than this apart are one alert. */
  readonly quietMs: number;
  /** An alert is told at this hit. */
  readonly hold: number;
  /** For how long of intake time late events still change their window. */
  readonly lateMs: number;
  /** The most windows of groups that are counted at a time, where there is a `by`, or values that are remembered. */
  readonly maxGroups: number;
  /** An alert whose last window ended longer before it was told, in intake time, is kept and not sent. */
  readonly maxAgeMs: number;
  readonly severity: RuleSeverity;
  readonly labels: Readonly<Record<string, string>>;
  readonly receivers: readonly string[];
}

/**
 * The version of a rule, 64 hex digits: the SHA-256 of all that decides which alerts there are. `max_age`, severity, labels and receivers
 * are no part of it, nor how its conditions are spelled. What a kind says beside its name comes in the order in which `RuleKind` has it.
 */
export function versionOf({ kind, where, zones, by, windowMs, quietMs, hold, lateMs, maxGroups }: AlertRule): string {
  const { kind: name, ...numbers } = kind;
  const decides = [name, Object.values(numbers), where, zones, by, windowMs, quietMs, hold, lateMs, maxGroups];
  const text = JSON.stringify(decides, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
  return createHash('sha256').update(text).digest('hex');
}

/** How far before its begin a new rule reads, in milliseconds of intake time: no more than is kept. */
export function readBackMs({ kind, windowMs }: AlertRule, retentionMs: number): number {
  switch (kind.kind) {
    case 'more_than_before':
      return Math.min(retentionMs, (kind.before + 1) * windowMs);
    case 'new_value':
      return Math.min(retentionMs, kind.forMs);
    case 'silence':
      return 0;
    default:
      return Math.min(retentionMs, windowMs);
  }
}
