import {
  type BatchStepPlan,
  type ConditionPlan,
  errorJson,
  type GivenSql,
  StatementError,
  type StatementPlan,
  type StreamPlan,
} from '../stream-plan.ts';
import type { Connection, Row } from './connection.ts';
import { checkSqlText, engineText, prepareNext, prepareOnly, thrownFor } from './prepare-statement.ts';
import {
  type AnswerBudget,
  charge,
  columnsJson,
  ENTRY_BYTES,
  entriesText,
  executeStatement,
  resultJson,
  runPrepared,
  type StatementResult,
  sqlParameters,
} from './run-statement.ts';
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
    const program = isExplain ? [] : (connection.db.prepare(`EXPLAIN ${engineText(own)}`).all() as unknown as readonly Row[]);
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

interface StepRun {
  /** Returns the result of a step as the protocol's text. */
  readonly execute: (step: BatchStepPlan<GivenSql>, index: number) => string;
  readonly isAutocommit: () => boolean;
}

const ERROR_TOO_LARGE = errorJson(
  new StatementError('RESPONSE_TOO_LARGE', 'the error of the step would make the answer larger than is allowed'),
);

/** What the answer has for a step beside its result, and room for the shortest error. */
const STEP_BYTES = {
  batch: 'null,null,'.length + ERROR_TOO_LARGE.length,
  cursor: '{"type":"step_error","step":10000,"error":}\n'.length + ERROR_TOO_LARGE.length,
} as const;

/** Tells the error of a step if the answer has room, or else that it is too large. */
function failed(error: StatementError, budget: AnswerBudget): StepOutcome {
  const json = errorJson(error);
  const bytes = Buffer.byteLength(json);
  if (bytes > budget.bytes) return { kind: 'error', json: ERROR_TOO_LARGE };
  budget.bytes -= bytes;
  return { kind: 'error', json };
}

/** Runs the steps whose conditions hold, in order. */
function runSteps(
  { kind, steps }: Extract<StreamPlan<GivenSql>, { readonly kind: 'batch' | 'cursor' }>,
  { execute, isAutocommit }: StepRun,
  budget: AnswerBudget,
): readonly StepOutcome[] {
  charge(budget, steps.length * STEP_BYTES[kind], 'the batch was not run: its steps would make the answer larger than is allowed');
  const outcomes: StepOutcome[] = [];
  for (const [index, step] of steps.entries()) {
    if (step.condition !== null && !holds(step.condition, outcomes, isAutocommit)) {
      outcomes.push({ kind: 'skipped' });
      continue;
    }
    const { bytes } = budget;
    try {
      outcomes.push({ kind: 'ok', json: execute(step, index) });
    } catch (error) {
      if (!(error instanceof StatementError)) throw error;
      // The rows before the error are not answered.
      budget.bytes = bytes;
      outcomes.push(failed(error, budget));
    }
  }
  return outcomes;
}

/** The result of a batch as JSON text. */
function batchJson(outcomes: readonly StepOutcome[]): string {
  const of = (kind: 'ok' | 'error'): string => outcomes.map((outcome) => (outcome.kind === kind ? outcome.json : 'null')).join(',');
  return `{"step_results":[${of('ok')}],"step_errors":[${of('error')}]}`;
}

/** The entries of a cursor, each a line of JSON. A skipped step has none. */
function cursorText(outcomes: readonly StepOutcome[]): string {
  return outcomes
    .flatMap((outcome, step) => {
      if (outcome.kind === 'skipped') return [];
      return outcome.kind === 'ok' ? [outcome.json] : [`{"type":"step_error","step":${step},"error":${outcome.json}}`];
    })
    .join('\n');
}

const NO_ARGUMENTS = { named: {}, positional: [] };

function runSequence(connection: Connection, sql: string, budget: AnswerBudget, onStatement: () => void): void {
  checkSqlText(sql, connection.sqlBytes);
  for (let next = prepareNext(connection, sql); next !== null; next = prepareNext(connection, next.rest)) {
    onStatement();
    runPrepared(connection, next, NO_ARGUMENTS, false, budget);
  }
}

const okJson = (response: string): string => `{"type":"ok","response":${response}}`;

/**
 * Runs the plan of a stream and returns the protocol's result as JSON text; of a cursor its entries, a line each. `textOf` looks stored
 * texts up. `onStatement` is called before each statement. Throws StatementError, or ForbiddenWrite where a Read Only connection was to
 * write.
 */
export function runPlan(
  connection: Connection,
  plan: StreamPlan<GivenSql>,
  textOf: (sql: GivenSql) => string,
  limits: Pick<AnswerBudget, 'rows' | 'bytes'>,
  onStatement: () => void,
): string {
  const budget: AnswerBudget = { ...limits, rowBytes: plan.kind === 'cursor' ? ENTRY_BYTES : 1 };
  const execute = (statement: StatementPlan<GivenSql>): StatementResult => {
    onStatement();
    return executeStatement(connection, { ...statement, sql: textOf(statement.sql) }, budget);
  };
  const stepsWith = (written: (result: StatementResult, index: number) => string): StepRun => ({
    execute: ({ statement }, index) => written(execute(statement), index),
    isAutocommit: () => !connection.db.isTransaction,
  });
  switch (plan.kind) {
    case 'execute':
      return okJson(`{"type":"execute","result":${resultJson(execute(plan.statement))}}`);
    case 'batch':
      return okJson(`{"type":"batch","result":${batchJson(runSteps(plan, stepsWith(resultJson), budget))}}`);
    case 'cursor':
      return cursorText(
        runSteps(
          plan,
          stepsWith((result, index) => entriesText(index, result)),
          budget,
        ),
      );
    case 'sequence':
      runSequence(connection, textOf(plan.sql), budget, onStatement);
      return okJson('{"type":"sequence"}');
    case 'describe': {
      onStatement();
      const described = describeStatement(connection, textOf(plan.sql));
      charge(budget, Buffer.byteLength(described), 'the description of the statement would make the answer larger than is allowed');
      return okJson(`{"type":"describe","result":${described}}`);
    }
    case 'get-autocommit':
      return okJson(`{"type":"get_autocommit","is_autocommit":${!connection.db.isTransaction}}`);
  }
}
