import type { StatementSync } from 'node:sqlite';
import { cut } from '../../../shown-value.ts';
import { StatementError } from '../stream-plan.ts';
import type { Connection } from './connection.ts';
import { type Denial, ForbiddenWrite, firstKeyword, readOnlyAt, type StatementEffects } from './statement-guard.ts';

/** SQLite's primary result codes, https://sqlite.org/rescode.html */
const PRIMARY_CODES: readonly string[] = (
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND ' +
  'FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'
).split(' ');

const READ_ONLY = PRIMARY_CODES.indexOf('READONLY');

/** Characters of the engine's message that callers see. */
const SHOWN_LENGTH = 500;

interface EngineError extends Error {
  readonly code: string;
  /** Extended code; its lowest byte is the primary code. */
  readonly errcode: number;
}

function isEngineError(error: unknown): error is EngineError {
  return error instanceof Error && (error as Partial<EngineError>).code === 'ERR_SQLITE_ERROR';
}

/** node:sqlite itself refuses what the engine would take, or fails. */
function isDriverError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && /^ERR_/.test((error as NodeJS.ErrnoException).code ?? '');
}

/** node:sqlite reports this for a text that is empty or holds only comments. */
function isNoStatement(error: unknown): boolean {
  return error instanceof TypeError && (error as NodeJS.ErrnoException).code === 'ERR_INVALID_ARG_VALUE';
}

/** Whether the connection or the guard refused a write. */
function isForbiddenWrite(error: unknown, denial: Denial | null): boolean {
  return denial !== null || (isEngineError(error) && (error.errcode & 0xff) === READ_ONLY);
}

function deniedError({ kind, what }: Denial, cause: unknown): StatementError {
  return kind === 'outside'
    ? new StatementError('SQLITE_AUTH', `${what} is not allowed here: it reaches outside of the database`, { cause })
    : new StatementError('SQLITE_READONLY', `${what} is not allowed: this only reads`, { cause });
}

/** The error that the caller sees for an error of the engine. Other errors come back as they are. */
function engineError(error: unknown, denial: Denial | null): unknown {
  if (denial !== null) return deniedError(denial, error);
  if (isNoStatement(error)) return new StatementError('SQL_NO_STATEMENT', 'the SQL text holds no statement', { cause: error });
  if (!isEngineError(error)) {
    if (!isDriverError(error)) return error;
    return new StatementError('SQLITE_MISUSE', `the statement cannot be run here: ${cut(error.message, SHOWN_LENGTH)}`, { cause: error });
  }
  const { errcode, message } = error;
  // The message may repeat a name of the statement, which may have megabytes.
  const shownMessage = cut(message, SHOWN_LENGTH);
  if (errcode === 1 && /syntax error|incomplete input|unrecognized token/.test(message)) {
    return new StatementError('SQL_PARSE_ERROR', `the SQL text could not be parsed: ${shownMessage}`, { cause: error });
  }
  const code = `SQLITE_${PRIMARY_CODES[errcode & 0xff] ?? 'UNKNOWN'}`;
  return new StatementError(code, `SQLite error: ${shownMessage}`, { cause: error });
}

export interface PreparedStatement {
  readonly statement: StatementSync;
  /** The statement's text with its semicolon. */
  readonly sql: string;
  /** The text after it. */
  readonly rest: string;
  readonly effects: StatementEffects;
}

type Purpose = 'prepare' | 'describe';

const FIRST_WINDOW = 4_096;

/** Throws StatementError for a text that the engine would read only in part, or not at all. */
export function checkSqlText(sql: string, sqlBytes: number): void {
  // The engine would stop at the NUL without an error.
  if (sql.includes('\0')) throw new StatementError('SQL_PARSE_ERROR', 'the SQL text holds a NUL character');
  const bytes = Buffer.byteLength(sql);
  if (bytes > sqlBytes) throw new StatementError('SQLITE_TOOBIG', `the SQL text has ${bytes} bytes; allowed: up to ${sqlBytes}`);
}

/** The error to throw for an error of the engine: ForbiddenWrite where a Read Only connection was to write. */
export function thrownFor(error: unknown, { guard, readOnly }: Connection): unknown {
  if (error instanceof StatementError || error instanceof ForbiddenWrite) return error;
  const denial = guard.denial();
  const told = engineError(error, denial);
  return readOnly && told instanceof StatementError && isForbiddenWrite(error, denial) ? new ForbiddenWrite(told) : told;
}

/** VACUUM copies the whole database into the log, but SQLite announces no write while it prepares it. */
function effectsOf(sql: string, effects: StatementEffects): StatementEffects {
  return firstKeyword(sql) === 'VACUUM' ? { ...effects, writes: true } : effects;
}

/** The text for the engine, which knows no `BEGIN READONLY` as libsql does. The word instead of it is as long. */
export function engineText(sql: string): string {
  const at = readOnlyAt(sql);
  return at === null ? sql : `${sql.slice(0, at)}DEFERRED${sql.slice(at + 'DEFERRED'.length)}`;
}

/** Prepares the first statement of a text; null where there is none. The engine finds where it ends. */
function prepareFirst(connection: Connection, sql: string, purpose: Purpose): PreparedStatement | null {
  const { db, guard, whenUnlocked } = connection;
  guard.enter(purpose);
  try {
    // Reading the schema waits, too, such as for a log that is recovered after a crash.
    const statement = whenUnlocked(() => db.prepare(engineText(sql)));
    // node:sqlite would refuse `:a` beside `@a`, and arguments come with the whole name.
    statement.setAllowBareNamedParameters(false);
    const own = sql.slice(0, statement.sourceSQL.length);
    return { statement, sql: own, rest: sql.slice(own.length), effects: effectsOf(own, guard.effects()) };
  } catch (error) {
    if (isNoStatement(error)) return null;
    throw thrownFor(error, connection);
  } finally {
    guard.enter('run');
  }
}

/**
 * Prepares the first statement of a text of many; null where none is left. The engine gets only a window of the text, because it copies the
 * rest each time: a statement that ends inside the window is the same in the whole text.
 */
export function prepareNext(connection: Connection, sql: string): PreparedStatement | null {
  for (let window = FIRST_WINDOW; window < sql.length; window *= 2) {
    try {
      const prepared = prepareFirst(connection, sql.slice(0, window), 'prepare');
      if (prepared !== null && prepared.sql.length < window && prepared.sql.endsWith(';')) {
        return { ...prepared, rest: sql.slice(prepared.sql.length) };
      }
    } catch (error) {
      // The statement may only be wrong because it was cut.
      if (!(error instanceof StatementError || error instanceof ForbiddenWrite)) throw error;
    }
  }
  return prepareFirst(connection, sql, 'prepare');
}

function holdsStatement(connection: Connection, sql: string, purpose: Purpose): boolean {
  try {
    return prepareFirst(connection, sql, purpose) !== null;
  } catch (error) {
    if (error instanceof StatementError) return true;
    throw error;
  }
}

/** Prepares the only statement of a text. Throws StatementError, also for none and for more than one. */
export function prepareOnly(connection: Connection, sql: string, purpose: Purpose = 'prepare'): PreparedStatement {
  checkSqlText(sql, connection.sqlBytes);
  const prepared = prepareFirst(connection, sql, purpose);
  if (prepared === null) throw new StatementError('SQL_NO_STATEMENT', 'the SQL text holds no statement');
  if (prepared.rest.trim() !== '' && holdsStatement(connection, prepared.rest, purpose)) {
    throw new StatementError('SQL_MANY_STATEMENTS', 'the SQL text holds more than one statement; allowed: one');
  }
  return prepared;
}
