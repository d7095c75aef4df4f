import type { AlertRule } from '../rule.ts';
import type { EvaluationProgress, Silence, StoredAlert, StoredRule } from './alert-state.ts';
import type { ListedDelivery, QueueTotals } from './outbox.ts';

/** How far the evaluation has come. */
export interface EvaluationFacts extends EvaluationProgress {
  readonly rules: number;
  /** Whether there are rules of the kind `silence`, which look at the last events of zones. */
  readonly looksAtZones: boolean;
}

/** How far a rule has come. */
export interface RuleOverview extends Pick<StoredRule, 'name' | 'version' | 'file' | 'hasJoined' | 'unreadable'> {
  readonly rule: AlertRule;
  /** The time of the intake up to which it has counted, Unix ms UTC. */
  readonly timeMs: number;
  /** How many events of its zones were read, for this rule or others, and how many of them it is about. */
  readonly read: number;
  readonly counted: number;
  readonly tooLate: number;
  readonly bounded: number;
  /** Its alerts that are not resolved. */
  readonly open: number;
}

export interface AlertsOverview {
  readonly facts: EvaluationFacts;
  readonly rules: readonly RuleOverview[];
  /** Those that were told, the last begun first. */
  readonly alerts: readonly StoredAlert[];
  /** Messages that wait or were not delivered, and then those that were, of each the newest first. */
  readonly deliveries: readonly ListedDelivery[];
  readonly queues: readonly QueueTotals[];
  readonly silences: readonly Silence[];
}
