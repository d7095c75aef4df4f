import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import type { Alert } from '../fold-state.ts';
import type { AlertRule } from '../rule.ts';

/** The queue of what becomes an event of `ALERT_ZONE`. No receiver has this name. */
export const ALERT_ZONE_QUEUE = '$zone';

/** What messages have of a rule, as it was when its alert was told. */
export interface ToldRule extends Pick<AlertRule, 'name' | 'zones' | 'by' | 'severity' | 'labels'> {
  readonly version: string;
}

/** Has rules of one version share their zones, which are the same: thousands of alerts may be told of a rule with a thousand zones. */
export function sharingZones(): (rule: ToldRule) => ToldRule {
  const zonesOf = new Map<string, ZoneSelection>();
  return (rule) => {
    const zones = zonesOf.get(rule.version) ?? rule.zones;
    zonesOf.set(rule.version, zones);
    return { ...rule, zones };
  };
}

/** To whom an alert was told, and what messages have of its rule. */
export interface Told {
  readonly rule: ToldRule;
  readonly queues: readonly string[];
  /** Why it was not sent to receivers; null: it was. */
  readonly kept: 'silenced' | 'too_old' | null;
}

/** Why an alert was resolved before it was quiet. */
export type EarlyEnd = 'rule_changed' | 'rule_gone';

export interface OutboxMessage {
  /** Its number in the order of the outbox. */
  readonly seq: number;
  readonly state: 'told' | 'resolved';
  readonly rule: ToldRule;
  readonly alert: Alert;
  /** Null where it was quiet, or is not resolved. */
  readonly earlyEnd: EarlyEnd | null;
  /** Unix ms UTC by the clock. */
  readonly queuedAtMs: number;
}

/** A message without what the outbox gives it. */
export type NewMessage = Omit<OutboxMessage, 'seq'>;

/** Messages of one rule and version that wait in a queue, in their order. */
export interface WaitingMessages {
  /** The oldest of them. */
  readonly messages: readonly OutboxMessage[];
  /** How many wait, and the number of the last of them. */
  readonly total: number;
  readonly lastSeq: number;
}

/** What became of messages. */
export interface Outcome {
  readonly kind: 'delivered' | 'refused' | 'given_up';
  /** Unix ms UTC. */
  readonly atMs: number;
  /** What the receiver answered, or why nothing was delivered. */
  readonly answer?: string;
}

/** The queues of messages, one for each receiver, and one for `ALERT_ZONE`. */
export interface Outbox {
  /** Of the rule and version of the oldest message that waits in a queue, leaving out the rules of some names; null where none waits. */
  waiting(queue: string, options: { readonly limit: number; readonly except: readonly string[] }): Promise<WaitingMessages | null>;
  /** The messages of a rule and version in the queue up to a number wait no longer. */
  settle(queue: string, rule: Pick<ToldRule, 'name' | 'version'>, upToSeq: number, outcome: Outcome): Promise<void>;
  /** Gives up what no receiver is there for, was queued too early, or is beyond the most of its queue. Resolves with how many that were. */
  giveUp(options: GiveUpOptions): Promise<number>;
}

/** Which messages wait no longer. Times are Unix ms UTC. */
export interface GiveUpOptions {
  /** All queues that are delivered from. */
  readonly queues: readonly string[];
  readonly queuedBeforeMs: number;
  /** How many of the newest of a queue may wait. */
  readonly most: number;
  readonly atMs: number;
}

/** A message that waits, or what became of it. */
export interface ListedDelivery extends Pick<OutboxMessage, 'seq' | 'state' | 'rule'> {
  readonly queue: string;
  readonly alertId: string;
  /** Null: it waits. */
  readonly outcome: Outcome | null;
}
