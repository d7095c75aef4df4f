import type { SqlValue } from './sql-value.ts';

/** One statement with its arguments. */
export interface StatementPlan {
  readonly sql: string;
  readonly args: readonly SqlValue[];
  readonly namedArgs: readonly { readonly name: string; readonly value: SqlValue }[];
  readonly wantRows: boolean;
}

/** When a step of a batch runs. `ok` and `error` look at an earlier step; one that was skipped is neither. */
export type ConditionPlan =
  | { readonly kind: 'ok' | 'error'; readonly step: number }
  | { readonly kind: 'not'; readonly condition: ConditionPlan }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly ConditionPlan[] }
  | { readonly kind: 'is-autocommit' };

export interface BatchStepPlan {
  readonly condition: ConditionPlan | null;
  readonly statement: StatementPlan;
}

/** What a database process does for a stream. */
export type StreamPlan =
  | { readonly kind: 'execute'; readonly statement: StatementPlan }
  | { readonly kind: 'batch'; readonly steps: readonly BatchStepPlan[] }
  | { readonly kind: 'sequence'; readonly sql: string }
  | { readonly kind: 'describe'; readonly sql: string }
  | { readonly kind: 'get-autocommit' };
