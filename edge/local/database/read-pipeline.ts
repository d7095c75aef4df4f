import { serialize } from 'node:v8';
import { EdgeError } from '../../edge-error.ts';
import { shown } from '../../shown-value.ts';
import {
  type ConditionPlan,
  type GivenSql,
  type SqlValue,
  StatementError,
  type StatementPlan,
  type StreamPlan,
  sqlsOf,
} from './stream-plan.ts';

/** A JSON object of a request. */
type WireObject = Readonly<Record<string, unknown>>;

/** An error that names the path in the request, the value and what is allowed. */
function wrongAt(path: string, value: unknown, allowed: string): StatementError {
  return new StatementError('REQUEST_INVALID', `${path} is ${shown(value)}; allowed: ${allowed}`);
}

/** Throws StatementError where the value is not an object. */
function objectAt(path: string, value: unknown): WireObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongAt(path, value, 'an object');
  return value as WireObject;
}

/** Throws StatementError where the value is not a list of up to `maxItems`. Absent and null are an empty list. */
function listAt(path: string, value: unknown, maxItems: number): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongAt(path, value, 'a list');
  if (value.length > maxItems) throw new StatementError('REQUEST_INVALID', `${path} has ${value.length} items; allowed: up to ${maxItems}`);
  return value;
}

/** Throws StatementError where the value is no string, or has half of a surrogate pair: the database would keep another text. */
function textAt(path: string, value: unknown): string {
  if (typeof value !== 'string') throw wrongAt(path, value, 'a string');
  if (!value.isWellFormed()) throw wrongAt(path, value, 'a string without half of a surrogate pair');
  return value;
}

/** Throws StatementError where the value is not a whole number from 0 to `max`. */
function wholeAt(path: string, value: unknown, max = 2_147_483_647): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max) {
    throw wrongAt(path, value, `a whole number 0..${max}`);
  }
  return value;
}

const [MIN_INTEGER, MAX_INTEGER] = [-(2n ** 63n), 2n ** 63n - 1n];

function parseInteger(path: string, value: unknown): bigint {
  const text = textAt(path, value);
  const allowed = 'a whole number of 64 bits, as a string of decimal digits';
  if (!/^[+-]?\d{1,20}$/.test(text)) throw wrongAt(path, value, allowed);
  const parsed = BigInt(text.replace(/^\+/, ''));
  if (parsed < MIN_INTEGER || parsed > MAX_INTEGER) throw wrongAt(path, value, allowed);
  return parsed;
}

function parseBlob(path: string, value: unknown): Uint8Array {
  const text = textAt(path, value);
  // Node drops characters that are not base64 without an error.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) {
    throw wrongAt(path, value, 'base64, padded or not');
  }
  return Buffer.from(text, 'base64');
}

/** A value of the protocol, `{type: "null" | "integer" | "float" | "text" | "blob", value | base64}`. Throws StatementError. */
function parseValue(path: string, wire: unknown): SqlValue {
  const { type, value, base64 } = objectAt(path, wire);
  switch (type) {
    case 'null':
      return null;
    case 'integer':
      return parseInteger(`${path}.value`, value);
    case 'float':
      if (typeof value !== 'number') throw wrongAt(`${path}.value`, value, 'a number');
      return value;
    case 'text':
      return textAt(`${path}.value`, value);
    case 'blob':
      return parseBlob(`${path}.base64`, base64);
    default:
      throw wrongAt(`${path}.type`, type, 'null, integer, float, text or blob');
  }
}

export const MAX_CONDITION_DEPTH = 64;
/** Conditions of one `and` or `or`. */
export const MAX_CONDITIONS = 1_000;

/**
 * The condition of step `step` of a batch. It may only look at earlier steps. Throws StatementError, also beyond the allowed depth, which
 * would exhaust the stack.
 */
function parseCondition(path: string, wire: unknown, step: number, depth = 0): ConditionPlan {
  if (depth > MAX_CONDITION_DEPTH) throw wrongAt(path, wire, `at most ${MAX_CONDITION_DEPTH} conditions inside one another`);
  const { type, ...rest } = objectAt(path, wire);
  switch (type) {
    case 'ok':
    case 'error':
      if (step === 0) throw wrongAt(`${path}.step`, rest['step'], 'an earlier step, of which the first step has none');
      return { kind: type, step: wholeAt(`${path}.step`, rest['step'], step - 1) };
    case 'not':
      return { kind: 'not', condition: parseCondition(`${path}.cond`, rest['cond'], step, depth + 1) };
    case 'and':
    case 'or': {
      const conditions = listAt(`${path}.conds`, rest['conds'], MAX_CONDITIONS);
      return { kind: type, conditions: conditions.map((one, index) => parseCondition(`${path}.conds[${index}]`, one, step, depth + 1)) };
    }
    case 'is_autocommit':
      return { kind: 'is-autocommit' };
    default:
      throw wrongAt(`${path}.type`, type, 'ok, error, not, and, or, is_autocommit');
  }
}

/** A request that a stream fulfils without its database process. */
export type OwnRequest =
  | { readonly kind: 'close' }
  | { readonly kind: 'store-sql'; readonly sqlId: number; readonly sql: string }
  | { readonly kind: 'close-sql'; readonly sqlId: number };

/** Steps of one batch. */
export const MAX_STEPS = 10_000;
/** SQLite allows no more parameters of one statement. */
export const MAX_ARGUMENTS = 32_766;

const REQUEST_TYPES = ['execute', 'batch', 'sequence', 'describe', 'store_sql', 'close_sql', 'close', 'get_autocommit'] as const;

function sqlOf(path: string, { sql, sql_id: sqlId }: WireObject): GivenSql {
  const hasSql = sql !== undefined && sql !== null;
  const hasId = sqlId !== undefined && sqlId !== null;
  if (hasSql && hasId) throw wrongAt(path, { sql, sql_id: sqlId }, 'either sql or sql_id');
  const idPath = `${path}.sql_id`;
  return hasId ? { sqlId: wholeAt(idPath, sqlId), path: idPath } : textAt(`${path}.sql`, sql);
}

function parseStatement(path: string, wire: unknown): StatementPlan<GivenSql> {
  const statement = objectAt(path, wire);
  const { args, named_args: namedArgs, want_rows: wantRows } = statement;
  if (wantRows !== undefined && wantRows !== null && typeof wantRows !== 'boolean') {
    throw wrongAt(`${path}.want_rows`, wantRows, 'true or false');
  }
  return {
    sql: sqlOf(path, statement),
    args: listAt(`${path}.args`, args, MAX_ARGUMENTS).map((value, index) => parseValue(`${path}.args[${index}]`, value)),
    namedArgs: listAt(`${path}.named_args`, namedArgs, MAX_ARGUMENTS).map((value, index) => {
      const at = `${path}.named_args[${index}]`;
      const named = objectAt(at, value);
      return { name: textAt(`${at}.name`, named['name']), value: parseValue(`${at}.value`, named['value']) };
    }),
    wantRows: wantRows !== false,
  };
}

function parseBatch(kind: 'batch' | 'cursor', path: string, wire: unknown): StreamPlan<GivenSql> {
  const steps = listAt(`${path}.steps`, objectAt(path, wire)['steps'], MAX_STEPS);
  return {
    kind,
    steps: steps.map((step, index) => {
      const at = `${path}.steps[${index}]`;
      const { condition, stmt } = objectAt(at, step);
      return {
        condition: condition === undefined || condition === null ? null : parseCondition(`${at}.condition`, condition, index),
        statement: parseStatement(`${at}.stmt`, stmt),
      };
    }),
  };
}

/** Parses the item of `requests` at `path`. Throws StatementError for its fault. */
function parseRequest(path: string, wire: unknown): OwnRequest | StreamPlan<GivenSql> {
  const request = objectAt(path, wire);
  switch (request['type']) {
    case 'execute':
      return { kind: 'execute', statement: parseStatement(`${path}.stmt`, request['stmt']) };
    case 'batch':
      return parseBatch('batch', `${path}.batch`, request['batch']);
    case 'sequence':
    case 'describe':
      return { kind: request['type'], sql: sqlOf(path, request) };
    case 'store_sql':
      return {
        kind: 'store-sql',
        sqlId: wholeAt(`${path}.sql_id`, request['sql_id']),
        sql: textAt(`${path}.sql`, request['sql']),
      };
    case 'close_sql':
      return { kind: 'close-sql', sqlId: wholeAt(`${path}.sql_id`, request['sql_id']) };
    case 'close':
      return { kind: 'close' };
    case 'get_autocommit':
      return { kind: 'get-autocommit' };
    default:
      throw wrongAt(`${path}.type`, request['type'], REQUEST_TYPES.join(', '));
  }
}

/** A request for a database process. */
export interface PlanRequest {
  readonly kind: 'plan';
  /** A StreamPlan<GivenSql>, written by `serialize` of node:v8, so that passing it on costs nothing. */
  readonly plan: Uint8Array;
  /** The numbers of the stored texts of the plan, each once. */
  readonly sqlIds: readonly number[];
}

/** An item that is not of the protocol. The others are run all the same. */
interface WrongRequest {
  readonly kind: 'wrong';
  readonly code: string;
  readonly message: string;
}

export type ReadRequest = OwnRequest | PlanRequest | WrongRequest;

/** The body of `POST /v2/pipeline` and `POST /v3/pipeline`. */
export interface ReadPipeline {
  readonly baton: string | null;
  readonly requests: readonly ReadRequest[];
}

function planRequest(plan: StreamPlan<GivenSql>): PlanRequest {
  const sqlIds = new Set(sqlsOf(plan).flatMap((sql) => (typeof sql === 'string' ? [] : [sql.sqlId])));
  return { kind: 'plan', plan: serialize(plan), sqlIds: [...sqlIds] };
}

function readRequest(wire: unknown, index: number): ReadRequest {
  try {
    const request = parseRequest(`requests[${index}]`, wire);
    const isOwn = request.kind === 'close' || request.kind === 'store-sql' || request.kind === 'close-sql';
    return isOwn ? request : planRequest(request);
  } catch (error) {
    if (error instanceof StatementError) return { kind: 'wrong', code: error.code, message: error.message };
    throw error;
  }
}

function wrongBody(field: string, message: string): EdgeError {
  return new EdgeError(400, 'REQUEST_INVALID', `${field} ${message}`, { field });
}

function readBaton({ baton = null }: WireObject): string | null {
  if (baton !== null && typeof baton !== 'string') throw wrongBody('baton', 'is not a string; allowed: a string, or null');
  return baton;
}

function bodyObject(body: unknown, allowed: string): WireObject {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw wrongBody('the body', `is not an object; allowed: ${allowed}`);
  }
  return body as WireObject;
}

/** Reads the body of a pipeline. Throws EdgeError 400 where the body as a whole is wrong. */
export function readPipeline(body: unknown, maxRequests: number): ReadPipeline {
  const read = bodyObject(body, '{baton?, requests}');
  const baton = readBaton(read);
  const { requests } = read;
  if (!Array.isArray(requests)) throw wrongBody('requests', 'is not a list; allowed: a list of requests');
  if (requests.length > maxRequests) throw wrongBody('requests', `has ${requests.length} items; allowed: up to ${maxRequests}`);
  return { baton, requests: requests.map(readRequest) };
}

/** The body of `POST /v3/cursor`. */
export interface ReadCursor {
  readonly baton: string | null;
  readonly request: PlanRequest;
}

/** Reads the body of a cursor. Throws EdgeError 400 where it is wrong: there is nothing else in it to run. */
export function readCursor(body: unknown): ReadCursor {
  const read = bodyObject(body, '{baton?, batch}');
  const baton = readBaton(read);
  try {
    return { baton, request: planRequest(parseBatch('cursor', 'batch', read['batch'])) };
  } catch (error) {
    if (error instanceof StatementError) throw new EdgeError(400, error.code, error.message, { cause: error });
    throw error;
  }
}
