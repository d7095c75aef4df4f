import type { FoldFacts } from '../fold-state.ts';
import type { AlertRule } from '../rule.ts';
import type { EvaluationProgress, Silence, StoredAlert, StoredRule } from './alert-state.ts';
import type { ListedDelivery } from './outbox.ts';

/** How far the evaluation has come. */
export interface EvaluationFacts extends EvaluationProgress {
  readonly rules: number;
  /** Whether there are rules of the kind `silence`, which look at the last events of zones. */
  readonly looksAtZones: boolean;
}

/** How far a rule has come. */
export interface RuleOverview extends Pick<StoredRule, 'name' | 'version' | 'unreadable'>, FoldFacts {
  readonly rule: AlertRule;
  /** Whether it has read what was stored before it began. */
  readonly hasJoined: boolean;
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
  readonly silences: readonly Silence[];
}
