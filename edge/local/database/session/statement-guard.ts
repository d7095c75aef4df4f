import { constants } from 'node:sqlite';
import type { StatementError } from '../stream-plan.ts';

/** White space, a semicolon, or a comment. One at a time, so that the time is linear in the text. */
const SKIPPED = /[\s;]+|--[^\n]*\n|\/\*[\s\S]*?\*\//y;
const KEYWORD = /(?:[A-Z][\w$]*)?/iy;

interface Word {
  /** In capitals; empty where there is none. */
  readonly word: string;
  /** Its place in the text. */
  readonly at: number;
}

/** The first word at `from` or after what is skipped there. */
function wordFrom(sql: string, from: number): Word {
  let at = from;
  for (SKIPPED.lastIndex = from; SKIPPED.test(sql); ) at = SKIPPED.lastIndex;
  KEYWORD.lastIndex = at;
  return { word: KEYWORD.exec(sql)?.[0].toUpperCase() ?? '', at };
}

/** The first word of a statement in capitals; empty where there is none. */
export function firstKeyword(sql: string): string {
  return wordFrom(sql, 0).word;
}

/** Where `READONLY` stands in a text that begins with `BEGIN READONLY` or `BEGIN TRANSACTION READONLY`; null in others. */
export function readOnlyAt(sql: string): number | null {
  const next = ({ word, at }: Word): Word => wordFrom(sql, at + word.length);
  const begin = wordFrom(sql, 0);
  if (begin.word !== 'BEGIN') return null;
  const second = next(begin);
  const { word, at } = second.word === 'TRANSACTION' ? next(second) : second;
  return word === 'READONLY' ? at : null;
}

/** A Read Only connection was to do more than read. The whole request is refused. */
export class ForbiddenWrite extends Error {
  override readonly name = 'ForbiddenWrite';
  readonly code: string;

  constructor(error: StatementError) {
    super(`a Read Only token may only read: ${error.message}`, { cause: error });
    this.code = error.code;
  }
}

/** Pragmas that only read, with their argument. */
const TELL_OF_ARGUMENT: ReadonlySet<string> = new Set([
  'foreign_key_check',
  'foreign_key_list',
  'index_info',
  'index_list',
  'index_xinfo',
  'integrity_check',
  'quick_check',
  'table_info',
  'table_list',
  'table_xinfo',
]);

/** Pragmas that only read, without an argument. */
const TELL: ReadonlySet<string> = new Set([
  ...TELL_OF_ARGUMENT,
  'analysis_limit',
  'application_id',
  'auto_vacuum',
  'automatic_index',
  'busy_timeout',
  'cache_size',
  'collation_list',
  'compile_options',
  'data_version',
  'database_list',
  'defer_foreign_keys',
  'encoding',
  'foreign_keys',
  'freelist_count',
  'function_list',
  'ignore_check_constraints',
  'journal_mode',
  'legacy_alter_table',
  'max_page_count',
  'module_list',
  'page_count',
  'page_size',
  'pragma_list',
  'query_only',
  'read_uncommitted',
  'recursive_triggers',
  'reverse_unordered_selects',
  'schema_version',
  'secure_delete',
  'synchronous',
  'user_version',
]);

/** Pragmas that only change the database or the stream's own connection. */
const CHANGE: ReadonlySet<string> = new Set([
  'analysis_limit',
  'application_id',
  'auto_vacuum',
  'automatic_index',
  'case_sensitive_like',
  'defer_foreign_keys',
  'foreign_keys',
  'ignore_check_constraints',
  'incremental_vacuum',
  'legacy_alter_table',
  'optimize',
  'query_only',
  'recursive_triggers',
  'reverse_unordered_selects',
  'secure_delete',
  'user_version',
]);

/**
 * The effect of a pragma: it reads, or it changes the database or its connection. All others are forbidden, because they reach files,
 * memory or locks of the whole program, or make commits less durable.
 */
function pragmaEffect(name: string, argument: string | null): 'tells' | 'changes' | 'outside' {
  const pragma = name.toLowerCase();
  if (argument === null ? TELL.has(pragma) : TELL_OF_ARGUMENT.has(pragma)) return 'tells';
  return CHANGE.has(pragma) ? 'changes' : 'outside';
}

/** A pragma whose answer can be compared with those of the same connection alone. */
const TELLS_OF_CONNECTION = 'data_version';
const TELLS_OF_FILE = 'database_list';

/** A refused action: `write` needs Full Access, `outside` is forbidden to everyone. */
export interface Denial {
  readonly kind: 'write' | 'outside';
  readonly what: string;
}

export interface TableName {
  /** `main` or `temp`. */
  readonly schema: string;
  readonly table: string;
}

/** The effects of a prepared statement itself, not of triggers unless it says so. */
export interface StatementEffects {
  /** The table or view into which it inserts rows; null where it inserts none. */
  readonly insertsInto: TableName | null;
  /** It updates rows of that table instead, where they are there already. */
  readonly isUpsert: boolean;
  /** Its triggers delete rows. */
  readonly triggersDelete: boolean;
  /** It inserts, updates or deletes rows of tables. */
  readonly changesRows: boolean;
  /** It changes the database's file, in rows or otherwise. */
  readonly writes: boolean;
  /** It begins, ends or divides a transaction. */
  readonly ofTransaction: boolean;
  /** Its rows name the database's file, which callers are not told. */
  readonly namesFile: boolean;
}

/** Answers the engine's questions while it prepares or runs a statement. There is one for each connection. */
export interface StatementGuard {
  /** The authorizer of https://sqlite.org/c3ref/set_authorizer.html. */
  readonly authorize: (code: number, first: string | null, second: string | null, database: string | null, by: string | null) => number;
  /**
   * `prepare` is for a caller's text, `describe` for one that will not run, `run` for a prepared statement and what SQLite asks for inside
   * it.
   */
  enter(phase: 'prepare' | 'describe' | 'run'): void;
  /** Whether the transaction was begun as a reading one. */
  setReadOnlyTransaction(readOnly: boolean): void;
  /** The first denial since `prepare` or `describe` was entered. */
  denial(): Denial | null;
  /** The effects of the statement that was prepared last. */
  effects(): StatementEffects;
  /** Whether something was made or told that means something on this connection alone: a setting, a temporary table, a number. */
  keepsState(): boolean;
}

const OF_TRANSACTION: ReadonlySet<number> = new Set([constants.SQLITE_TRANSACTION, constants.SQLITE_SAVEPOINT]);

const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_RECURSIVE,
  ...OF_TRANSACTION,
]);

const CHANGING_ROWS: ReadonlySet<number> = new Set([constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE]);

const NO_EFFECTS: StatementEffects = {
  insertsInto: null,
  isUpsert: false,
  triggersDelete: false,
  changesRows: false,
  writes: false,
  ofTransaction: false,
  namesFile: false,
};

const MODULES: ReadonlySet<string> = new Set(['fts3', 'fts4', 'fts4aux', 'fts5', 'fts5vocab', 'geopoly', 'rtree', 'rtree_i32']);
const FUNCTIONS_OUTSIDE: ReadonlySet<string> = new Set(['load_extension', 'fts3_tokenizer']);
const SCHEMA_TABLES: ReadonlySet<string> = new Set(['sqlite_master', 'sqlite_temp_master']);

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants)
    .filter(([name]) => !/^SQLITE_(CHANGESET_.*|OK|DENY|IGNORE|COPY)$/.test(name))
    .map(([name, code]) => [code, name.replace(/^SQLITE_/, '').replaceAll('_', ' ')]),
);

function verdictOf(code: number, first: string | null, second: string | null): Denial['kind'] | null {
  if (READING.has(code)) return null;
  switch (code) {
    case constants.SQLITE_FUNCTION:
      return FUNCTIONS_OUTSIDE.has((second ?? '').toLowerCase()) ? 'outside' : null;
    case constants.SQLITE_PRAGMA: {
      const effect = pragmaEffect(first ?? '', second);
      if (effect === 'tells') return null;
      return effect === 'changes' ? 'write' : 'outside';
    }
    case constants.SQLITE_CREATE_VTABLE:
      return MODULES.has((second ?? '').toLowerCase()) ? 'write' : 'outside';
    case constants.SQLITE_ATTACH:
    case constants.SQLITE_DETACH:
      return 'outside';
    default:
      return 'write';
  }
}

function isPragma(name: string, code: number, first: string | null): boolean {
  return code === constants.SQLITE_PRAGMA && first?.toLowerCase() === name;
}

function isOfConnection(code: number, first: string | null, database: string | null): boolean {
  return database === 'temp' || (code === constants.SQLITE_PRAGMA && first?.toLowerCase() !== 'optimize');
}

/** Adds whether a statement inserts into a table, and updates its rows instead. */
function withTarget(effects: StatementEffects, code: number, { schema, table }: TableName): StatementEffects {
  const { insertsInto } = effects;
  if (code === constants.SQLITE_INSERT) return { ...effects, insertsInto: { schema, table } };
  // Actions of foreign keys are asked for as if they were the statement's own, but are on other tables.
  const isOfTarget = insertsInto !== null && table === insertsInto.table && schema === insertsInto.schema;
  return code === constants.SQLITE_UPDATE && isOfTarget ? { ...effects, isUpsert: true } : effects;
}

/** Makes the guard of a Read Only or a Full Access connection. */
export function makeStatementGuard({ readOnly }: { readonly readOnly: boolean }): StatementGuard {
  let phase: 'prepare' | 'describe' | 'run' = 'run';
  let [readOnlyTransaction, keeps] = [false, false];
  let effects = NO_EFFECTS;
  let denied: Denial | null = null;

  function noteReading(code: number, first: string | null): void {
    if (isPragma(TELLS_OF_CONNECTION, code, first) && phase !== 'describe') keeps = true;
    if (phase === 'prepare' && isPragma(TELLS_OF_FILE, code, first)) effects = { ...effects, namesFile: true };
    if (phase === 'prepare' && OF_TRANSACTION.has(code)) effects = { ...effects, ofTransaction: true };
  }

  function noteEffect(code: number, first: string | null, database: string | null, by: string | null): void {
    if (isOfConnection(code, first, database)) keeps = true;
    if (database !== 'temp') effects = { ...effects, writes: true };
    if (by !== null && code === constants.SQLITE_DELETE) effects = { ...effects, triggersDelete: true };
    if (by !== null || SCHEMA_TABLES.has(first ?? '')) return;
    effects = withTarget(effects, code, { schema: database ?? 'main', table: first ?? '' });
    if (CHANGING_ROWS.has(code)) effects = { ...effects, changesRows: true };
  }

  function allows(kind: Denial['kind'], code: number, first: string | null): boolean {
    if (kind === 'write') return phase === 'describe' || !(readOnly || readOnlyTransaction);
    // VACUUM attaches a file without a name; VACUUM INTO names one. A caller's ATTACH is asked for while it is prepared.
    const ofVacuum = code === constants.SQLITE_DETACH || (code === constants.SQLITE_ATTACH && first === '');
    return phase === 'run' && ofVacuum && !readOnly;
  }

  return {
    authorize(code, first, second, database, by) {
      // A table-valued function asks for its pragma while it runs. Its rows may become anything.
      const hidesFile = phase === 'run' && isPragma(TELLS_OF_FILE, code, first);
      const kind = hidesFile ? 'outside' : verdictOf(code, first, second);
      if (kind === null) {
        noteReading(code, first);
        return constants.SQLITE_OK;
      }
      if (allows(kind, code, first)) {
        if (phase === 'prepare') noteEffect(code, first, database, by);
        return constants.SQLITE_OK;
      }
      const detail = code === constants.SQLITE_FUNCTION || code === constants.SQLITE_CREATE_VTABLE ? second : first;
      denied ??= { kind, what: `${NAMES.get(code) ?? `action ${code}`}${detail === null ? '' : ` ${detail}`}` };
      return constants.SQLITE_DENY;
    },
    enter(entered) {
      phase = entered;
      if (entered === 'run') return;
      denied = null;
      effects = NO_EFFECTS;
    },
    setReadOnlyTransaction(value) {
      readOnlyTransaction = value;
    },
    denial: () => denied,
    effects: () => effects,
    keepsState: () => keeps,
  };
}
