import { parseCondition } from './parse-condition.ts';
import { parseValue } from './parse-value.ts';
import type { GivenSql, StatementPlan, StreamPlan } from './stream-plan.ts';
import { listAt, objectAt, textAt, type WireObject, wholeAt, wrongAt } from './wire-place.ts';

/** What a stream does itself, without its database process. */
export type OwnRequest =
  | { readonly kind: 'close' }
  | { readonly kind: 'store-sql'; readonly sqlId: number; readonly sql: string }
  | { readonly kind: 'close-sql'; readonly sqlId: number };

/** Steps of one batch. */
export const MAX_STEPS = 10_000;
/** SQLite knows no more parameters of one statement. */
export const MAX_ARGUMENTS = 32_766;

const REQUEST_TYPES = ['execute', 'batch', 'sequence', 'describe', 'store_sql', 'close_sql', 'close', 'get_autocommit'] as const;

function sqlOf(place: string, { sql, sql_id: sqlId }: WireObject): GivenSql {
  const hasSql = sql !== undefined && sql !== null;
  const hasId = sqlId !== undefined && sqlId !== null;
  if (hasSql && hasId) throw wrongAt(place, { sql, sql_id: sqlId }, 'either sql or sql_id');
  const idPlace = `${place}.sql_id`;
  return hasId ? { sqlId: wholeAt(idPlace, sqlId), place: idPlace } : textAt(`${place}.sql`, sql);
}

function parseStatement(place: string, wire: unknown): StatementPlan<GivenSql> {
  const statement = objectAt(place, wire);
  const { args, named_args: namedArgs, want_rows: wantRows } = statement;
  if (wantRows !== undefined && wantRows !== null && typeof wantRows !== 'boolean') {
    throw wrongAt(`${place}.want_rows`, wantRows, 'true or false');
  }
  return {
    sql: sqlOf(place, statement),
    args: listAt(`${place}.args`, args, MAX_ARGUMENTS).map((value, index) => parseValue(`${place}.args[${index}]`, value)),
    namedArgs: listAt(`${place}.named_args`, namedArgs, MAX_ARGUMENTS).map((value, index) => {
      const at = `${place}.named_args[${index}]`;
      const named = objectAt(at, value);
      return { name: textAt(`${at}.name`, named['name']), value: parseValue(`${at}.value`, named['value']) };
    }),
    wantRows: wantRows !== false,
  };
}

function parseBatch(place: string, wire: unknown): StreamPlan<GivenSql> {
  const steps = listAt(`${place}.steps`, objectAt(place, wire)['steps'], MAX_STEPS);
  return {
    kind: 'batch',
    steps: steps.map((step, index) => {
      const at = `${place}.steps[${index}]`;
      const { condition, stmt } = objectAt(at, step);
      return {
        condition: condition === undefined || condition === null ? null : parseCondition(`${at}.condition`, condition, index),
        statement: parseStatement(`${at}.stmt`, stmt),
      };
    }),
  };
}

/** One item of a pipeline's `requests`, at `place`. Throws StatementError naming what is wrong in it. */
export function parseRequest(place: string, wire: unknown): OwnRequest | StreamPlan<GivenSql> {
  const request = objectAt(place, wire);
  switch (request['type']) {
    case 'execute':
      return { kind: 'execute', statement: parseStatement(`${place}.stmt`, request['stmt']) };
    case 'batch':
      return parseBatch(`${place}.batch`, request['batch']);
    case 'sequence':
    case 'describe':
      return { kind: request['type'], sql: sqlOf(place, request) };
    case 'store_sql':
      return {
        kind: 'store-sql',
        sqlId: wholeAt(`${place}.sql_id`, request['sql_id']),
        sql: textAt(`${place}.sql`, request['sql']),
      };
    case 'close_sql':
      return { kind: 'close-sql', sqlId: wholeAt(`${place}.sql_id`, request['sql_id']) };
    case 'close':
      return { kind: 'close' };
    case 'get_autocommit':
      return { kind: 'get-autocommit' };
    default:
      throw wrongAt(`${place}.type`, request['type'], REQUEST_TYPES.join(', '));
  }
}
