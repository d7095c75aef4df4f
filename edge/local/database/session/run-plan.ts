import type { StreamPlan } from '../stream-plan.ts';
import type { Connection } from './connection.ts';
import { describeStatement } from './describe-statement.ts';
import { checkSqlText, prepareNext } from './prepare-statement.ts';
import { runBatch } from './run-batch.ts';
import { type AnswerBudget, charge, executeStatement, runPrepared } from './run-statement.ts';

const NO_ARGUMENTS = { named: {}, positional: [] };

function runSequence(connection: Connection, sql: string, budget: AnswerBudget, onStatement: () => void): void {
  checkSqlText(sql, connection.sqlBytes);
  for (let next = prepareNext(connection, sql); next !== null; next = prepareNext(connection, next.rest)) {
    onStatement();
    runPrepared(connection, next, NO_ARGUMENTS, false, budget);
  }
}

/**
 * Does what a stream was asked for; the protocol's response as JSON text. `onStatement` is called before each statement runs. Throws
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
