import { createHash } from 'node:crypto';
import type { Dimension, GroupDimension } from '../query/event-fields.ts';
import type { Predicate, ZoneSelection } from '../query/plan/search-plan.ts';

export const RULE_SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;

/** So many windows of groups are counted at a time where a rule does not say it. */
export const USUAL_MAX_GROUPS = 5_000;

export type RuleSeverity = (typeof RULE_SEVERITIES)[number];

/** What makes a window of a group a hit. */
export type RuleKind =
  /** At least so many events. */
  | { readonly kind: 'count'; readonly atLeast: number }
  /** At least so many values of a field; events without one add none. */
  | { readonly kind: 'distinct'; readonly field: Dimension; readonly atLeast: number };

/** A rule of alerts. All times are milliseconds. */
export interface AlertRule {
  readonly name: string;
  readonly zones: ZoneSelection;
  readonly where: Predicate;
  /** What events are grouped by: none to three. */
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
  /** The most windows of groups that are counted at a time, where there is a `by`. */
  readonly maxGroups: number;
  readonly severity: RuleSeverity;
  readonly labels: Readonly<Record<string, string>>;
  readonly receivers: readonly string[];
}

/**
 * The version of a rule, 64 hex digits: the SHA-256 of all that decides which alerts there are. Severity, labels and receivers are no part
 * of it, nor how its conditions are spelled.
 */
export function versionOf({ kind, where, zones, by, windowMs, quietMs, hold, lateMs, maxGroups }: AlertRule): string {
  const field = kind.kind === 'distinct' ? kind.field : null;
  const decides = [kind.kind, field, kind.atLeast, where, zones, by, windowMs, quietMs, hold, lateMs, maxGroups];
  const text = JSON.stringify(decides, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
  return createHash('sha256').update(text).digest('hex');
}
