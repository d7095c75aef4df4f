import type { ConditionPlan } from './stream-plan.ts';
import { listAt, objectAt, wholeAt, wrongAt } from './wire-place.ts';

export const DEEPEST_CONDITIONS = 64;
/** Conditions that one `and` or `or` joins. */
export const MAX_CONDITIONS = 1_000;

/**
 * The condition of a batch's step `step`; it may look at earlier steps only. Throws StatementError, also beyond 64 conditions inside one
 * another, which would exhaust the stack.
 */
export function parseCondition(place: string, wire: unknown, step: number, depth = 0): ConditionPlan {
  if (depth > DEEPEST_CONDITIONS) throw wrongAt(place, wire, `at most ${DEEPEST_CONDITIONS} conditions inside one another`);
  const { type, ...rest } = objectAt(place, wire);
  switch (type) {
    case 'ok':
    case 'error':
      if (step === 0) throw wrongAt(`${place}.step`, rest['step'], 'an earlier step, of which the first step has none');
      return { kind: type, step: wholeAt(`${place}.step`, rest['step'], step - 1) };
    case 'not':
      return { kind: 'not', condition: parseCondition(`${place}.cond`, rest['cond'], step, depth + 1) };
    case 'and':
    case 'or': {
      const conditions = listAt(`${place}.conds`, rest['conds'], MAX_CONDITIONS);
      return { kind: type, conditions: conditions.map((one, index) => parseCondition(`${place}.conds[${index}]`, one, step, depth + 1)) };
    }
    case 'is_autocommit':
      return { kind: 'is-autocommit' };
    default:
      throw wrongAt(`${place}.type`, type, 'ok, error, not, and, or, is_autocommit');
  }
}
