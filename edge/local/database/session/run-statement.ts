import type { DatabaseSync, StatementColumnMetadata } from 'node:sqlite';
import { shown } from '../../../shown-value.ts';
import { type SqlValue, StatementError, type StatementPlan, valueJson } from '../stream-plan.ts';
import type { Connection, Row } from './connection.ts';
import { watchInsertedRowid } from './inserted-rowid.ts';
import { type PreparedStatement, prepareOnly, thrownFor } from './prepare-statement.ts';
import { readOnlyAt } from './statement-guard.ts';

/**
 * The parameters of one statement, numbered by SQLite's rules (https://sqlite.org/lang_expr.html#varparam): element n is the name of
 * parameter n+1 as written (`:a`, `@a`, `$a`, `#a`, `?7`), null for `?` and for unused numbers. node:sqlite does not tell them.
 */
export function sqlParameters(sql: string): readonly (string | null)[] {
  const names: (string | null)[] = [];
  const add = (index: number, name: string | null): void => {
    while (names.length < index) names.push(null);
    names[index - 1] ??= name;
  };
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === '?') add(names.length + 1, null);
    else if (token.startsWith('?')) add(Number(token.slice(1)), token);
    else if (/^[:@#$]/.test(token) && !names.includes(token)) add(names.length + 1, token);
  }
  return names;
}

/**
 * Tokens that could hide the first character of a parameter, then the parameters. Words are matched whole, because `$` may be inside one.
 */
const TOKEN = new RegExp(
  [
    /--[^\n]*/,
    /\/\*[\s\S]*?(?:\*\/|$)/,
    /'(?:[^']|'')*'/,
    /"(?:[^"]|"")*"/,
    /`(?:[^`]|``)*`/,
    /\[[^\]]*\]/,
    /[A-Za-z_0-9\u0080-\uffff][A-Za-z_0-9$\u0080-\uffff]*/,
    /\?\d*/,
    /[:@#$](?:::)*[A-Za-z_0-9$\u0080-\uffff](?:[A-Za-z_0-9$\u0080-\uffff]|::)*(?:\([^ \t\n\v\f\r)]*\))?/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Arguments for node:sqlite: named ones by their whole name, the others by number, unused numbers included. */
interface BoundArguments {
  readonly named: Readonly<Record<string, SqlValue>>;
  readonly positional: readonly SqlValue[];
}

type Names = readonly (string | null)[];

const isNamed = (name: string | null): name is string => name !== null && !name.startsWith('?');

function parametersOf(names: Names): string {
  return names.length === 0 ? 'the statement has no parameters' : `the statement has ${names.map((name) => name ?? '?').join(', ')}`;
}

function byPosition(names: Names, args: readonly SqlValue[]): readonly SqlValue[] {
  if (args.length === names.length) return args;
  throw new StatementError('ARGS_INVALID', `${args.length} arguments are given; ${parametersOf(names)}`);
}

/** A name without its prefix stands for all parameters of that name which are not given with it. */
function byName(names: Names, given: StatementPlan['namedArgs']): readonly SqlValue[] {
  const values: (SqlValue | undefined)[] = names.map(() => undefined);
  const bareFirst = given.toSorted((one, other) => Number(names.includes(one.name)) - Number(names.includes(other.name)));
  for (const { name, value } of bareFirst) {
    const found = names.flatMap((own, index) => (own !== null && (own === name || own.slice(1) === name) ? [index] : []));
    if (found.length === 0) throw new StatementError('ARGS_INVALID', `no parameter is named ${shown(name)}; ${parametersOf(names)}`);
    for (const index of found) values[index] = value;
  }
  return values.map((value, index) => {
    // An unused number, which exists only because of a higher `?7`.
    if (value === undefined) throw new StatementError('ARGS_INVALID', `parameter ${names[index] ?? index + 1} has no argument`);
    return value;
  });
}

/** The arguments for the parameters of `sql`. Each parameter needs one. Throws StatementError `ARGS_…`. */
function bindArguments(sql: string, { args, namedArgs }: Pick<StatementPlan, 'args' | 'namedArgs'>): BoundArguments {
  if (args.length > 0 && namedArgs.length > 0) {
    throw new StatementError('ARGS_BOTH_POSITIONAL_AND_NAMED', 'a statement takes either args or named_args, not both');
  }
  const names = sqlParameters(sql);
  const values = namedArgs.length > 0 ? byName(names, namedArgs) : byPosition(names, args);
  return {
    named: Object.fromEntries(names.flatMap((name, index) => (isNamed(name) ? [[name, values[index] ?? null]] : []))),
    positional: values.filter((_value, index) => !isNamed(names[index] ?? null)),
  };
}

/** The rest of the limits of an answer. `bytes` shrinks with each result. */
export interface AnswerBudget {
  readonly rows: number;
  /** What the answer has for a row beside its values. */
  readonly rowBytes: number;
  bytes: number;
}

/** Bytes of a result beside its columns and rows. */
const RESULT_BYTES = 256;

/** Takes bytes off the budget. Throws StatementError `RESPONSE_TOO_LARGE` with `otherwise` where it has fewer. */
export function charge(budget: AnswerBudget, bytes: number, otherwise: string): void {
  if (bytes > budget.bytes) throw new StatementError('RESPONSE_TOO_LARGE', otherwise);
  budget.bytes -= bytes;
}

/** The columns of a prepared statement as JSON text. */
export function columnsJson(columns: readonly StatementColumnMetadata[]): string {
  return JSON.stringify(columns.map(({ name, type }) => ({ name, decltype: type })));
}

const ROWS_TOO_LARGE = 'the statement changed nothing: its rows would make the answer larger than is allowed; ask for fewer with LIMIT';

/** A lower bound of the bytes of its JSON text. */
function minBytes(row: Row): number {
  let bytes = 0;
  for (const value of row) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length;
  return bytes;
}

function rowJson(row: Row, budget: AnswerBudget): string {
  // A row of hundreds of large values is refused before it is written as text.
  if (minBytes(row) > budget.bytes) throw new StatementError('RESPONSE_TOO_LARGE', ROWS_TOO_LARGE);
  const json = `[${row.map(valueJson).join(',')}]`;
  charge(budget, Buffer.byteLength(json) + budget.rowBytes, ROWS_TOO_LARGE);
  return json;
}

/** Runs a statement to its end. Returns the rows as JSON texts, or none where they are not wanted. Always closes the statement. */
function step(
  db: DatabaseSync,
  { statement, effects }: PreparedStatement,
  bound: BoundArguments,
  wantRows: boolean,
  budget: AnswerBudget,
): readonly string[] {
  const rows: string[] = [];
  const file = effects.namesFile ? db.location() : null;
  const found = statement.iterate(bound.named, ...bound.positional);
  try {
    for (const row of found) {
      if (!wantRows) continue;
      if (rows.length === budget.rows) {
        throw new StatementError(
          'RESPONSE_TOO_LARGE',
          `the statement changed nothing: it answers more than ${budget.rows} rows; ask for fewer with LIMIT`,
        );
      }
      const values = row as unknown as Row;
      rows.push(rowJson(file === null ? values : values.map((value) => (String(value).includes(file) ? '' : value)), budget));
    }
    return rows;
  } finally {
    // A statement that found the database locked would be in progress still, and no savepoint could be released.
    found.return?.();
  }
}

/** Runs a prepared statement. Throws StatementError or ForbiddenWrite; nothing is changed then. */
export function runPrepared(
  connection: Connection,
  prepared: PreparedStatement,
  bound: BoundArguments,
  wantRows: boolean,
  budget: AnswerBudget,
): readonly string[] {
  const { db, guard, log } = connection;
  const onlyReads = readOnlyAt(prepared.sql) !== null;
  const run = (): readonly string[] => step(db, prepared, bound, wantRows, budget);
  try {
    if (!onlyReads) log.makeRoom(prepared.effects);
    // With RETURNING the engine has made all changes before the first row, which may be too large to answer.
    const returning = prepared.effects.changesRows && prepared.statement.columns().length > 0;
    const rows = connection.whenUnlocked(returning ? () => connection.atomically(run) : run);
    if (onlyReads) guard.setReadOnlyTransaction(true);
    return rows;
  } catch (error) {
    throw thrownFor(error, connection);
  } finally {
    if (!db.isTransaction) guard.setReadOnlyTransaction(false);
    connection.followTransaction();
  }
}

/** What a statement has answered, as pieces of the protocol's JSON. */
export interface StatementResult {
  readonly columns: string;
  readonly rows: readonly string[];
  /** The members `affected_row_count` and `last_insert_rowid`. */
  readonly changes: string;
  readonly rowsWritten: bigint;
  readonly durationMs: number;
}

function runStatement(connection: Connection, plan: StatementPlan, budget: AnswerBudget): StatementResult {
  const startedAt = performance.now();
  const prepared = prepareOnly(connection, plan.sql);
  const columns = columnsJson(prepared.statement.columns());
  charge(
    budget,
    Buffer.byteLength(columns) + RESULT_BYTES,
    'the statement was not run: its columns would make the answer larger than is allowed',
  );
  const bound = bindArguments(prepared.sql, plan);
  const before = connection.counters();
  const insertedRowid = watchInsertedRowid(connection, prepared, before);
  const rows = runPrepared(connection, prepared, bound, plan.wantRows, budget);
  const after = connection.counters();
  const rowsWritten = after.total - before.total;
  const affected = prepared.effects.changesRows && rowsWritten !== 0n ? after.last : 0n;
  const rowid = insertedRowid(after);
  return {
    columns,
    rows,
    changes: `"affected_row_count":${affected},"last_insert_rowid":${rowid === null ? 'null' : `"${rowid}"`}`,
    rowsWritten,
    durationMs: performance.now() - startedAt,
  };
}

/** Runs one statement. Throws StatementError or ForbiddenWrite. */
export function executeStatement(connection: Connection, plan: StatementPlan, budget: AnswerBudget): StatementResult {
  try {
    return runStatement(connection, plan, budget);
  } catch (error) {
    throw thrownFor(error, connection);
  }
}

/** The result of a statement as JSON text. */
export function resultJson({ columns, rows, changes, rowsWritten, durationMs }: StatementResult): string {
  return (
    `{"cols":${columns},"rows":[${rows.join(',')}],${changes},` +
    `"rows_read":${rows.length},"rows_written":${rowsWritten},"query_duration_ms":${durationMs.toFixed(3)}}`
  );
}

/** The bytes of an entry of a cursor beside the values of its row. */
export const ENTRY_BYTES = '{"type":"row","row":}\n'.length;

/** The result of step `step` of a cursor, an entry a line. */
export function entriesText(step: number, { columns, rows, changes }: StatementResult): string {
  const begin = `{"type":"step_begin","step":${step},"cols":${columns}}`;
  return [begin, ...rows.map((row) => `{"type":"row","row":${row}}`), `{"type":"step_end",${changes}}`].join('\n');
}
