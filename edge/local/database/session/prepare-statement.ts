import type { StatementSync } from 'node:sqlite';
import { StatementError } from '../statement-error.ts';
import type { Connection } from './connection.ts';
import { engineError, isForbiddenWrite, isNoStatement } from './engine-error.ts';
import { firstKeyword } from './first-keyword.ts';
import { ForbiddenWrite } from './forbidden-write.ts';
import type { StatementEffects } from './statement-guard.ts';

export interface PreparedStatement {
  readonly statement: StatementSync;
  /** The statement's own text, with the semicolon that ends it. */
  readonly sql: string;
  /** What follows it. */
  readonly rest: string;
  readonly effects: StatementEffects;
}

type Purpose = 'prepare' | 'describe';

const FIRST_WINDOW = 4_096;

/** Throws StatementError where the engine would take a text only in part, or not at all. */
export function checkSqlText(sql: string, sqlBytes: number): void {
  // The engine would read as far as the NUL and never tell of the rest.
  if (sql.includes('\0')) throw new StatementError('SQL_PARSE_ERROR', 'the SQL text holds a NUL character');
  const bytes = Buffer.byteLength(sql);
  if (bytes > sqlBytes) throw new StatementError('SQLITE_TOOBIG', `the SQL text has ${bytes} bytes; allowed: up to ${sqlBytes}`);
}

/** What is thrown for an error of the engine: ForbiddenWrite where a Read Only connection was to write. */
export function thrownFor(error: unknown, { guard, readOnly }: Connection): unknown {
  const denial = guard.denial();
  const told = engineError(error, denial);
  return readOnly && told instanceof StatementError && isForbiddenWrite(error, denial) ? new ForbiddenWrite(told) : told;
}

/** VACUUM copies the whole database into the log, and SQLite asks for nothing while it prepares it. */
function effectsOf(sql: string, effects: StatementEffects): StatementEffects {
  return firstKeyword(sql) === 'VACUUM' ? { ...effects, writes: true } : effects;
}

/** The first statement of a text; null where there is none. The engine itself finds where it ends. */
function prepareFirst(connection: Connection, sql: string, purpose: Purpose): PreparedStatement | null {
  const { db, guard } = connection;
  guard.enter(purpose);
  try {
    const statement = db.prepare(sql);
    const own = statement.sourceSQL;
    return { statement, sql: own, rest: sql.slice(own.length), effects: effectsOf(own, guard.effects()) };
  } catch (error) {
    if (isNoStatement(error)) return null;
    throw thrownFor(error, connection);
  } finally {
    guard.enter('run');
  }
}

/**
 * The first statement of a text of many; null where none is left. Only as much as it needs is given to the engine, which would otherwise
 * copy the rest each time: a statement that ends before the window does is the same in the whole text.
 */
export function prepareNext(connection: Connection, sql: string): PreparedStatement | null {
  for (let window = FIRST_WINDOW; window < sql.length; window *= 2) {
    try {
      const prepared = prepareFirst(connection, sql.slice(0, window), 'prepare');
      if (prepared !== null && prepared.sql.length < window && prepared.sql.endsWith(';')) {
        return { ...prepared, rest: sql.slice(prepared.sql.length) };
      }
    } catch (error) {
      // It may be wrong only because it was cut.
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

/** The one statement of a text. Throws StatementError, also where there is none or more than one. */
export function prepareOnly(connection: Connection, sql: string, purpose: Purpose = 'prepare'): PreparedStatement {
  checkSqlText(sql, connection.sqlBytes);
  const prepared = prepareFirst(connection, sql, purpose);
  if (prepared === null) throw new StatementError('SQL_NO_STATEMENT', 'the SQL text holds no statement');
  if (prepared.rest.trim() !== '' && holdsStatement(connection, prepared.rest, purpose)) {
    throw new StatementError('SQL_MANY_STATEMENTS', 'the SQL text holds more than one statement; allowed: one');
  }
  return prepared;
}
