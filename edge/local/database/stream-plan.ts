import { cut } from '../../shown-value.ts';

/** A value of the database. 64-bit integers are bigint, so that none loses digits. */
export type SqlValue = null | bigint | number | string | Uint8Array;

/** JSON has no infinity, so it becomes the text that SQLite's CAST makes of it. `-0` would become `0`. */
function floatJson(value: number): string {
  if (!Number.isFinite(value)) return `{"type":"text","value":"${value > 0 ? 'Inf' : '-Inf'}"}`;
  return `{"type":"float","value":${Object.is(value, -0) ? '-0.0' : value}}`;
}

/** The client in Go reads a padded blob as NULL. */
function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  const padded = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  return padded.slice(0, Math.ceil((byteLength * 4) / 3));
}

/** A value as JSON text of the protocol. Blobs are base64 without padding. */
export function valueJson(value: SqlValue): string {
  if (value === null) return '{"type":"null"}';
  switch (typeof value) {
    case 'bigint':
      return `{"type":"integer","value":"${value}"}`;
    case 'number':
      return floatJson(value);
    case 'string':
      return `{"type":"text","value":${JSON.stringify(value)}}`;
    default:
      return `{"type":"blob","base64":"${base64Of(value)}"}`;
  }
}

/** Characters of the message of an error, which may repeat names of the statement. */
export const MAX_ERROR_LENGTH = 1_024;

/** A failed request of a stream. The others go on. The code is the protocol's, or SQLite's (`SQLITE_…`). A long message is cut. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly code: string;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(cut(message, MAX_ERROR_LENGTH), options);
    this.code = code;
  }
}

/** The JSON text of an error inside a result. */
export function errorJson({ message, code }: { readonly message: string; readonly code: string }): string {
  return JSON.stringify({ message, code });
}

/** An SQL text that the stream keeps by a number. */
interface StoredSql {
  readonly sqlId: number;
  /** The path of the number in the request. */
  readonly path: string;
}

/** An SQL text of a plan before stored texts are looked up. */
export type GivenSql = string | StoredSql;

/** One statement with its arguments. */
export interface StatementPlan<Sql = string> {
  readonly sql: Sql;
  readonly args: readonly SqlValue[];
  readonly namedArgs: readonly { readonly name: string; readonly value: SqlValue }[];
  readonly wantRows: boolean;
}

/** When a step of a batch runs. `ok` and `error` look at an earlier step; a skipped one is neither. */
export type ConditionPlan =
  | { readonly kind: 'ok' | 'error'; readonly step: number }
  | { readonly kind: 'not'; readonly condition: ConditionPlan }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly ConditionPlan[] }
  | { readonly kind: 'is-autocommit' };

export interface BatchStepPlan<Sql = string> {
  readonly condition: ConditionPlan | null;
  readonly statement: StatementPlan<Sql>;
}

/** The plan that a database process runs for a stream. */
export type StreamPlan<Sql = string> =
  | { readonly kind: 'execute'; readonly statement: StatementPlan<Sql> }
  /** The results of a batch are told together, or by a cursor in entries of their own. */
  | { readonly kind: 'batch' | 'cursor'; readonly steps: readonly BatchStepPlan<Sql>[] }
  | { readonly kind: 'sequence'; readonly sql: Sql }
  | { readonly kind: 'describe'; readonly sql: Sql }
  | { readonly kind: 'get-autocommit' };

/** The SQL texts of a plan, in their order. */
export function sqlsOf<Sql>(plan: StreamPlan<Sql>): readonly Sql[] {
  switch (plan.kind) {
    case 'execute':
      return [plan.statement.sql];
    case 'batch':
    case 'cursor':
      return plan.steps.map(({ statement }) => statement.sql);
    case 'sequence':
    case 'describe':
      return [plan.sql];
    case 'get-autocommit':
      return [];
  }
}
