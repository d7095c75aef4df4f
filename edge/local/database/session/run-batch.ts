import { errorJson, StatementError } from '../statement-error.ts';
import type { BatchStepPlan, ConditionPlan } from '../stream-plan.ts';

/** How a step of a batch went: its result or its error as JSON text, or neither. */
type StepOutcome = { readonly kind: 'ok' | 'error'; readonly json: string } | { readonly kind: 'skipped' };

function holds(condition: ConditionPlan, outcomes: readonly StepOutcome[], isAutocommit: () => boolean): boolean {
  switch (condition.kind) {
    case 'ok':
    case 'error':
      return outcomes[condition.step]?.kind === condition.kind;
    case 'not':
      return !holds(condition.condition, outcomes, isAutocommit);
    case 'and':
      return condition.conditions.every((one) => holds(one, outcomes, isAutocommit));
    case 'or':
      return condition.conditions.some((one) => holds(one, outcomes, isAutocommit));
    case 'is-autocommit':
      return isAutocommit();
  }
}

/** Runs the steps whose conditions hold, one after the other; the batch's result as the protocol's JSON text. */
export function runBatch(
  steps: readonly BatchStepPlan[],
  { execute, isAutocommit }: { readonly execute: (step: BatchStepPlan) => string; readonly isAutocommit: () => boolean },
): string {
  const outcomes: StepOutcome[] = [];
  for (const step of steps) {
    if (step.condition !== null && !holds(step.condition, outcomes, isAutocommit)) {
      outcomes.push({ kind: 'skipped' });
      continue;
    }
    try {
      outcomes.push({ kind: 'ok', json: execute(step) });
    } catch (error) {
      if (!(error instanceof StatementError)) throw error;
      outcomes.push({ kind: 'error', json: errorJson(error) });
    }
  }
  const of = (kind: 'ok' | 'error'): string => outcomes.map((outcome) => (outcome.kind === kind ? outcome.json : 'null')).join(',');
  return `{"step_results":[${of('ok')}],"step_errors":[${of('error')}]}`;
}
