import { parseCondition } from './parse-condition.ts';
import { parseValue } from './parse-value.ts';
import type { StoredSqls } from './stored-sqls.ts';
import type { StatementPlan, StreamPlan } from './stream-plan.ts';
import { listAt, objectAt, textAt, type WireObject, wrongAt } from './wire-place.ts';

/** What a stream does itself, without its database process. */
export type OwnRequest =
  | { readonly kind: 'close' }
  | { readonly kind: 'store-sql'; readonly sqlId: unknown; readonly sql: unknown }
  | { readonly kind: 'close-sql'; readonly sqlId: unknown };

/** Steps of one batch: reading them holds the main thread. */
export const MAX_STEPS = 10_000;
/** SQLite knows no more parameters of one statement. */
export const MAX_ARGUMENTS = 32_766;

const REQUEST_TYPES = ['execute', 'batch', 'sequence', 'describe', 'store_sql', 'close_sql', 'close', 'get_autocommit'] as const;

function sqlOf(place: string, { sql, sql_id: sqlId }: WireObject, stored: StoredSqls): string {
  const hasSql = sql !== undefined && sql !== null;
  const hasId = sqlId !== undefined && sqlId !== null;
  if (hasSql && hasId) throw wrongAt(place, { sql, sql_id: sqlId }, 'either sql or sql_id');
  return hasId ? stored.find(`${place}.sql_id`, sqlId) : textAt(`${place}.sql`, sql);
}

function parseStatement(place: string, wire: unknown, stored: StoredSqls): StatementPlan {
  const statement = objectAt(place, wire);
  const { args, named_args: namedArgs, want_rows: wantRows } = statement;
  if (wantRows !== undefined && wantRows !== null && typeof wantRows !== 'boolean') {
    throw wrongAt(`${place}.want_rows`, wantRows, 'true or false');
  }
  return {
    sql: sqlOf(place, statement, stored),
    args: listAt(`${place}.args`, args, MAX_ARGUMENTS).map((value, index) => parseValue(`${place}.args[${index}]`, value)),
    namedArgs: listAt(`${place}.named_args`, namedArgs, MAX_ARGUMENTS).map((value, index) => {
      const at = `${place}.named_args[${index}]`;
      const named = objectAt(at, value);
      return { name: textAt(`${at}.name`, named['name']), value: parseValue(`${at}.value`, named['value']) };
    }),
    wantRows: wantRows !== false,
  };
}

function parseBatch(place: string, wire: unknown, stored: StoredSqls): StreamPlan {
  const steps = listAt(`${place}.steps`, objectAt(place, wire)['steps'], MAX_STEPS);
  return {
    kind: 'batch',
    steps: steps.map((step, index) => {
      const at = `${place}.steps[${index}]`;
      const { condition, stmt } = objectAt(at, step);
      return {
        condition: condition === undefined || condition === null ? null : parseCondition(`${at}.condition`, condition, index),
        statement: parseStatement(`${at}.stmt`, stmt, stored),
      };
    }),
  };
}

/** One item of a pipeline's `requests`, at `place`. Throws StatementError naming what is wrong in it. */
export function parseRequest(place: string, wire: unknown, stored: StoredSqls): OwnRequest | StreamPlan {
  const request = objectAt(place, wire);
  switch (request['type']) {
    case 'execute':
      return { kind: 'execute', statement: parseStatement(`${place}.stmt`, request['stmt'], stored) };
    case 'batch':
      return parseBatch(`${place}.batch`, request['batch'], stored);
    case 'sequence':
    case 'describe':
      return { kind: request['type'], sql: sqlOf(place, request, stored) };
    case 'store_sql':
      return { kind: 'store-sql', sqlId: request['sql_id'], sql: request['sql'] };
    case 'close_sql':
      return { kind: 'close-sql', sqlId: request['sql_id'] };
    case 'close':
      return { kind: 'close' };
    case 'get_autocommit':
      return { kind: 'get-autocommit' };
    default:
      throw wrongAt(`${place}.type`, request['type'], REQUEST_TYPES.join(', '));
  }
}
