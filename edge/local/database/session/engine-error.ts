import { cut } from '../../../shown-value.ts';
import { StatementError } from '../statement-error.ts';
import type { Denial } from './statement-guard.ts';

/** SQLite's primary result codes, https://sqlite.org/rescode.html */
const PRIMARY_CODES: readonly string[] =
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'.split(
    ' ',
  );

const READ_ONLY = PRIMARY_CODES.indexOf('READONLY');

/** Characters of the engine's message that a caller is shown. */
const SHOWN_LENGTH = 500;

interface EngineError extends Error {
  readonly code: string;
  /** Extended: the primary code is its lowest byte. */
  readonly errcode: number;
}

function isEngineError(error: unknown): error is EngineError {
  return error instanceof Error && (error as Partial<EngineError>).code === 'ERR_SQLITE_ERROR';
}

/** node:sqlite says so of a text that is empty or holds comments only. */
export function isNoStatement(error: unknown): boolean {
  return error instanceof TypeError && (error as NodeJS.ErrnoException).code === 'ERR_INVALID_ARG_VALUE';
}

/** The engine wanted to write and could not, because of the connection or of the guard. */
export function isForbiddenWrite(error: unknown, denial: Denial | null): boolean {
  return denial !== null || (isEngineError(error) && (error.errcode & 0xff) === READ_ONLY);
}

function deniedError({ kind, what }: Denial, cause: unknown): StatementError {
  return kind === 'outside'
    ? new StatementError('SQLITE_AUTH', `${what} is not allowed here: it reaches outside of the database`, { cause })
    : new StatementError('SQLITE_READONLY', `${what} is not allowed: this only reads`, { cause });
}

/** What went wrong in the engine as the caller is told of it; errors that are not the engine's come back as they are. */
export function engineError(error: unknown, denial: Denial | null): unknown {
  if (error instanceof StatementError) return error;
  if (denial !== null) return deniedError(denial, error);
  if (isNoStatement(error)) return new StatementError('SQL_NO_STATEMENT', 'the SQL text holds no statement', { cause: error });
  if (!isEngineError(error)) return error;
  const { errcode, message } = error;
  // It may repeat a name of the statement, which may have megabytes.
  const shownMessage = cut(message, SHOWN_LENGTH);
  if (errcode === 1 && /syntax error|incomplete input|unrecognized token/.test(message)) {
    return new StatementError('SQL_PARSE_ERROR', `the SQL text could not be parsed: ${shownMessage}`, { cause: error });
  }
  const code = `SQLITE_${PRIMARY_CODES[errcode & 0xff] ?? 'UNKNOWN'}`;
  return new StatementError(code, `SQLite error: ${shownMessage}`, { cause: error });
}
