import type { EarlyEnd, OutboxMessage } from '../../alerts/evaluation/outbox.ts';
import type { GroupDimension } from '../../query/event-fields.ts';
import { printable } from '../../query/search-line.ts';

/** The most characters that are shown of a value. */
export const SHOWN_CHARACTERS = 256;

/** The most alerts that a message names. */
export const ALERTS_A_MESSAGE = 20;

/** A part of a sentence: our own words, or a value of an event, which an attacker may have written. */
export type SentencePart = string | { readonly value: string };

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
export interface ToldAlert {
  readonly id: string;
  readonly state: OutboxMessage['state'];
  readonly sentence: readonly SentencePart[];
  readonly group: readonly { readonly field: GroupDimension; readonly value: string }[];
  /** From the begin of its first window to the end of its last, Unix ms UTC. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The time of the event that completed it. */
  readonly completedAtMs: number | null;
  readonly toldAtMs: number | null;
  readonly resolvedAtMs: number | null;
  /** Why it was resolved before it was quiet; null where it was, or is not resolved. */
  readonly earlyEnd: EarlyEnd | null;
  readonly hits: number;
  readonly isBounded: boolean;
  /** Where the explorer shows its events; null where the program does not know its address. */
  readonly link: string | null;
  /** What its events have; null: it was not asked for. A text says why it could not be told. */
  readonly facts: AlertFacts | string | null;
}

/** What is sent at a time about a rule. */
export interface AlertMessage {
  readonly rule: OutboxMessage['rule'];
  /** In the order in which they were told. */
  readonly alerts: readonly ToldAlert[];
  /** How many further ones wait that no message names. */
  readonly more: number;
}

/** What is sent to a receiver in one request: JSON. */
export interface ReceiverRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A text of an event as people may see it: what no screen shows as it is becomes an escape, and the rest of a long one is left out. */
export function messageValue(text: string): string {
  // A character has two UTF-16 units at most.
  const characters = [...printable(text.slice(0, 2 * SHOWN_CHARACTERS + 2))];
  return characters.length <= SHOWN_CHARACTERS ? characters.join('') : `${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`;
}

const EARLY_ENDS: Readonly<Record<EarlyEnd, string>> = {
  rule_changed: ', because the rule was changed',
  rule_gone: ', because the rule is gone',
};

/** The alert of a message of the outbox. */
export function toldAlert({ state, rule, alert, earlyEnd }: OutboxMessage, about: Pick<ToldAlert, 'link' | 'facts'>): ToldAlert {
  const { id, fromMs, toMs, completedAtMs, toldAtMs, resolvedAtMs, hits, isBounded } = alert;
  const group = rule.by.map((field, nth) => ({ field, value: messageValue(alert.group[nth]?.text ?? '') }));
  const sentence: readonly SentencePart[] = [
    `${state === 'told' ? 'Alert' : 'Resolved'} ${rule.name}, severity ${rule.severity}`,
    ...group.flatMap(({ field, value }, nth) => [`${nth === 0 ? ': ' : ', '}${field} `, value === '' ? '(none)' : { value }]),
    `, windows from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`,
    earlyEnd === null ? '' : EARLY_ENDS[earlyEnd],
  ];
  return { id, state, sentence, group, fromMs, toMs, completedAtMs, toldAtMs, resolvedAtMs, earlyEnd, hits, isBounded, ...about };
}

/** A sentence as plain text, with the values as `write` gives them. */
export function sentenceText(parts: readonly SentencePart[], write: (value: string) => string = (value) => value): string {
  return parts.map((part) => (typeof part === 'string' ? part : write(part.value))).join('');
}
