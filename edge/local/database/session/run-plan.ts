import { type BatchStepPlan, type ConditionPlan, errorJson, StatementError, type StreamPlan } from '../stream-plan.ts';
import type { Connection, Row } from './connection.ts';
import { checkSqlText, prepareNext, prepareOnly, thrownFor } from './prepare-statement.ts';
import { type AnswerBudget, charge, columnsJson, executeStatement, runPrepared, sqlParameters } from './run-statement.ts';
import { firstKeyword } from './statement-guard.ts';

/** Instructions that write, besides a `Transaction` whose second operand is not 0, as in sqlite3_stmt_readonly(). */
const WRITING: ReadonlySet<unknown> = new Set(['Checkpoint', 'IncrVacuum', 'JournalMode', 'Vacuum']);

function writes(row: Row): boolean {
  const [, opcode, , second] = row;
  return WRITING.has(opcode) || (opcode === 'Transaction' && second !== 0n);
}

/** The parameters and columns of a statement as the protocol's JSON text, without running it. Throws StatementError. */
function describeStatement(connection: Connection, sql: string): string {
  const { statement, sql: own } = prepareOnly(connection, sql, 'describe');
  const isExplain = firstKeyword(own) === 'EXPLAIN';
  try {
    connection.guard.enter('describe');
    // EXPLAIN of an EXPLAIN is a syntax error, and it only reads.
    const program = isExplain ? [] : (connection.db.prepare(`EXPLAIN ${own}`).all() as unknown as readonly Row[]);
    const params = JSON.stringify(sqlParameters(own).map((name) => ({ name })));
    const columns = columnsJson(statement.columns());
    return `{"params":${params},"cols":${columns},"is_explain":${isExplain},"is_readonly":${!program.some(writes)}}`;
  } catch (error) {
    throw thrownFor(error, connection);
  } finally {
    connection.guard.enter('run');
  }
}

/** The outcome of a step of a batch: its result or error as JSON text, or neither. */
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

/** Runs the steps whose conditions hold, in order. Returns the batch's result as the protocol's JSON text. */
function runBatch(
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

const NO_ARGUMENTS = { named: {}, positional: [] };

function runSequence(connection: Connection, sql: string, budget: AnswerBudget, onStatement: () => void): void {
  checkSqlText(sql, connection.sqlBytes);
  for (let next = prepareNext(connection, sql); next !== null; next = prepareNext(connection, next.rest)) {
    onStatement();
    runPrepared(connection, next, NO_ARGUMENTS, false, budget);
  }
}

/**
 * Runs the plan of a stream and returns the protocol's response as JSON text. `onStatement` is called before each statement. Throws
 * StatementError, or ForbiddenWrite where a Read Only connection was to write.
 */
export function runPlan(connection: Connection, plan: StreamPlan, budget: AnswerBudget, onStatement: () => void): string {
  switch (plan.kind) {
    case 'execute':
      onStatement();
      return `{"type":"execute","result":${executeStatement(connection, plan.statement, budget)}}`;
    case 'batch': {
      const result = runBatch(plan.steps, {
        execute: ({ statement }) => {
          onStatement();
          return executeStatement(connection, statement, budget);
        },
        isAutocommit: () => !connection.db.isTransaction,
      });
      return `{"type":"batch","result":${result}}`;
    }
    case 'sequence':
      runSequence(connection, plan.sql, budget, onStatement);
      return '{"type":"sequence"}';
    case 'describe': {
      onStatement();
      const described = describeStatement(connection, plan.sql);
      charge(budget, Buffer.byteLength(described), 'the description of the statement would make the answer larger than is allowed');
      return `{"type":"describe","result":${described}}`;
    }
    case 'get-autocommit':
      return `{"type":"get_autocommit","is_autocommit":${!connection.db.isTransaction}}`;
  }
}
