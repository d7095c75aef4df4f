import type { SqlValue } from './sql-value.ts';

/** An SQL text that the stream keeps by a number. */
export interface StoredSql {
  readonly sqlId: number;
  /** Of the number in the request. */
  readonly place: string;
}

/** An SQL text of a plan as it was read, whose stored texts have not been looked up. */
export type GivenSql = string | StoredSql;

/** One statement with its arguments. */
export interface StatementPlan<Sql = string> {
  readonly sql: Sql;
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

export interface BatchStepPlan<Sql = string> {
  readonly condition: ConditionPlan | null;
  readonly statement: StatementPlan<Sql>;
}

/** What a database process does for a stream. */
export type StreamPlan<Sql = string> =
  | { readonly kind: 'execute'; readonly statement: StatementPlan<Sql> }
  | { readonly kind: 'batch'; readonly steps: readonly BatchStepPlan<Sql>[] }
  | { readonly kind: 'sequence'; readonly sql: Sql }
  | { readonly kind: 'describe'; readonly sql: Sql }
  | { readonly kind: 'get-autocommit' };

/** The plan with another text for each of its SQL texts. */
export function withSqls<From, To>(plan: StreamPlan<From>, sqlOf: (sql: From) => To): StreamPlan<To> {
  const statement = (one: StatementPlan<From>): StatementPlan<To> => ({ ...one, sql: sqlOf(one.sql) });
  switch (plan.kind) {
    case 'execute':
      return { kind: 'execute', statement: statement(plan.statement) };
    case 'batch':
      return { kind: 'batch', steps: plan.steps.map((step) => ({ ...step, statement: statement(step.statement) })) };
    case 'sequence':
    case 'describe':
      return { kind: plan.kind, sql: sqlOf(plan.sql) };
    case 'get-autocommit':
      return plan;
  }
}
