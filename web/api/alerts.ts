import type { GroupDimension } from '../../query/event-fields.ts';
import { ask } from './client.ts';
import type { Window } from './explore.ts';

type RuleZones = 'all' | readonly number[];
type Group = Readonly<Partial<Record<GroupDimension, string>>>;

/** How far a rule of alerts is. */
interface RuleState {
  readonly rule: string;
  readonly severity: string;
  /** Whether it still reads what was stored before it began. */
  readonly readsBack: boolean;
  readonly lagMs: number;
  /** About how many events of its zones were read, and how many of them it is about. */
  readonly read: number;
  readonly counted: number;
  readonly tooLate: number;
  readonly bounded: number;
  readonly unreadable: number;
  readonly open: number;
}

/** An alert, from the begin of its first window to the end of its last one. */
export interface ListedAlert extends Window {
  readonly id: string;
  readonly rule: string;
  readonly zones: RuleZones;
  readonly severity: string;
  readonly group: Group;
  readonly hits: number;
  /** Unix ms UTC; null: it is open. */
  readonly resolvedAt: number | null;
  readonly earlyEnd: 'rule_changed' | 'rule_gone' | null;
  /** Whether hits may be missing. */
  readonly bounded: boolean;
  /** Those that are told; `$zone`: it becomes an event of ALERT_ZONE. */
  readonly receivers: readonly string[];
  /** Why it was not sent. */
  readonly kept: 'silenced' | 'too_old' | null;
}

/** What became of a message about an alert. */
export interface MessageDelivery {
  readonly receiver: string;
  readonly alertId: string;
  readonly state: 'told' | 'resolved';
  readonly outcome: 'waiting' | 'delivered' | 'refused' | 'given_up';
  /** Unix ms UTC; null: it waits. */
  readonly at: number | null;
  readonly answer: string | null;
}

/** A time in which alerts of a rule are not sent; a null group: those of all groups. */
export interface ShownSilence {
  readonly id: number;
  readonly rule: string;
  readonly group: Group | null;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

export interface AlertList {
  readonly rules: readonly RuleState[];
  /** The newest first, as the deliveries. */
  readonly alerts: readonly ListedAlert[];
  readonly deliveries: readonly MessageDelivery[];
  readonly silences: readonly ShownSilence[];
  /** How often rules could not go on from what was kept. */
  readonly refusals: Readonly<Record<'ahead' | 'unknown' | 'expired' | 'damaged' | 'lost', number>>;
}

/** At most `limit` alerts of the rules that the key sees. Throws RequestFailed. */
export function alertList(limit: number, signal: AbortSignal): Promise<AlertList> {
  return ask(`alerts?limit=${limit}`, { signal });
}

/** Keeps the alerts of a rule, or of a group of it, from being sent, from now on. Throws RequestFailed. */
export function addSilence(silence: Omit<ShownSilence, 'id' | 'from'>, signal: AbortSignal): Promise<ShownSilence> {
  return ask('alerts/silences', { body: silence, signal });
}

/** Throws RequestFailed. */
export function endSilence(id: number, signal: AbortSignal): Promise<unknown> {
  return ask('alerts/silences/remove', { body: { id }, signal });
}
