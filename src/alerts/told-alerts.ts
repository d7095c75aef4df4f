import type { EarlyEnd, OutboxMessage, ToldRule } from '../../alerts/evaluation/outbox.ts';
import type { Alert } from '../../alerts/fold-state.ts';
import type { GroupDimension } from '../../query/event-fields.ts';
import { printable } from '../../query/search-line.ts';

/** The most characters that are shown of a value. */
export const SHOWN_CHARACTERS = 256;

/** A value, how many events of the alert have it, and how many of all events in its time and half an hour around. */
export interface AlertValue {
  readonly field: GroupDimension;
  readonly value: string;
  readonly count: number;
  readonly around: number;
}

/** What the events of an alert have. Values are as they are shown. */
export interface AlertFacts {
  readonly count: number;
  /** The times of the first and the last of them, Unix ms UTC; null where there is none. */
  readonly times: { readonly firstMs: number; readonly lastMs: number } | null;
  /** The most frequent value of each field. */
  readonly top: readonly AlertValue[];
  /** The values that they have more often than the events around them, the greatest difference first. */
  readonly different: readonly AlertValue[];
}

/** An alert as a message tells it. Values of events are as they are shown, with escapes and at most 256 characters. */
export interface ToldAlert extends Omit<Alert, 'group'>, Pick<OutboxMessage, 'state' | 'earlyEnd'> {
  /** A sentence about it, with the values of its group as `show` gives them: an attacker may have written them. */
  readonly sentence: (show?: (value: string) => string) => string;
  readonly group: readonly (readonly [field: GroupDimension, value: string])[];
  /** Where the explorer shows its events; null where the program does not know its address. */
  readonly link: string | null;
  /** What its events have; null: it was not asked for. A text says why it could not be told. */
  readonly facts: AlertFacts | string | null;
}

/** What is sent at a time about a rule. */
export interface AlertMessage {
  readonly rule: ToldRule;
  /** In the order in which they were told. */
  readonly alerts: readonly ToldAlert[];
  /** How many further ones wait that no message names. */
  readonly more: number;
}

/** A text of an event as people may see it: what no screen shows as it is becomes an escape, and the rest of a long one is left out. */
export function messageValue(text: string): string {
  // A character has two UTF-16 units at most.
  const characters = [...printable(text.slice(0, 2 * SHOWN_CHARACTERS + 2))];
  return characters.length <= SHOWN_CHARACTERS ? characters.join('') : `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}

const EARLY_ENDS: Readonly<Record<EarlyEnd, string>> = { rule_changed: 'the rule was changed', rule_gone: 'the rule is gone' };

/** The alert of a message of the outbox. */
export function toldAlert({ state, rule, alert, earlyEnd }: OutboxMessage, about: Pick<ToldAlert, 'link' | 'facts'>): ToldAlert {
  const group = rule.by.map((field, nth) => [field, messageValue(alert.group[nth]?.text ?? '')] as const);
  const sentence: ToldAlert['sentence'] = (show = (value) => value) => {
    const values = group.map(([field, value]) => `${field} ${value === '' ? '(none)' : show(value)}`).join(', ');
    const what = `${state === 'told' ? 'Alert' : 'Resolved'} ${rule.name}, severity ${rule.severity}${values === '' ? '' : `: ${values}`}`;
    const why = earlyEnd === null ? '' : `, because ${EARLY_ENDS[earlyEnd]}`;
    return `${what}, windows from ${isoTime(alert.fromMs)} to ${isoTime(alert.toMs)}${why}`;
  };
  return { ...alert, state, earlyEnd, group, sentence, ...about };
}

/** ISO 8601 in UTC, of Unix ms. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** An alert as JSON has it. */
export function alertJson({ facts, ...alert }: ToldAlert, { severity, labels }: ToldRule): object {
  return {
    id: alert.id,
    state: alert.state,
    severity,
    labels,
    sentence: alert.sentence(),
    group: Object.fromEntries(alert.group),
    from: isoTime(alert.fromMs),
    to: isoTime(alert.toMs),
    hits: alert.hits,
    toldAt: isoTime(alert.toldAtMs),
    resolvedAt: isoTime(alert.resolvedAtMs),
    earlyEnd: alert.earlyEnd,
    bounded: alert.isBounded,
    link: alert.link,
    ...(typeof facts === 'string' ? { withoutFacts: facts } : facts && factsJson(facts)),
  };
}

function factsJson({ count, times, top, different }: AlertFacts): object {
  return { count, ...(times && { first: isoTime(times.firstMs), last: isoTime(times.lastMs) }), top, different };
}
