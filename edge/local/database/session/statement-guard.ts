import { constants } from 'node:sqlite';
import { pragmaEffect } from './allowed-pragmas.ts';

/** What a statement wanted and may not: `write` is for Full Access only, `outside` is for nobody. */
export interface Denial {
  readonly kind: 'write' | 'outside';
  readonly what: string;
}

/** What a prepared statement does by itself, not through triggers. */
export interface StatementEffects {
  readonly inserts: boolean;
  /** It inserts, updates or deletes rows of tables. */
  readonly changesRows: boolean;
  /** It changes the database's file, in rows or otherwise. */
  readonly writes: boolean;
  /** It begins, ends or divides a transaction. */
  readonly ofTransaction: boolean;
}

/** What the engine asks for while it prepares or runs a statement, answered. One a connection. */
export interface StatementGuard {
  /** The authorizer of https://sqlite.org/c3ref/set_authorizer.html. */
  readonly authorize: (code: number, first: string | null, second: string | null, database: string | null, by: string | null) => number;
  /** `prepare` a caller's own text; `describe` one that will not run; `run` what was prepared, with what SQLite asks inside of it. */
  enter(phase: 'prepare' | 'describe' | 'run'): void;
  /** A transaction that was begun as a reading one. */
  setReadOnlyTransaction(readOnly: boolean): void;
  /** The first since `prepare` or `describe` was entered. */
  denial(): Denial | null;
  /** Of what was prepared last. */
  effects(): StatementEffects;
  /** Something was made or set that lives as long as the connection. */
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

const NO_EFFECTS: StatementEffects = { inserts: false, changesRows: false, writes: false, ofTransaction: false };

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

function isOfConnection(code: number, first: string | null, database: string | null): boolean {
  return database === 'temp' || (code === constants.SQLITE_PRAGMA && first?.toLowerCase() !== 'optimize');
}

/** A guard for a Read Only connection, or for a Full Access one. */
export function makeStatementGuard({ readOnly }: { readonly readOnly: boolean }): StatementGuard {
  let phase: 'prepare' | 'describe' | 'run' = 'run';
  let [readOnlyTransaction, keeps] = [false, false];
  let effects = NO_EFFECTS;
  let denied: Denial | null = null;

  function noteEffect(code: number, first: string | null, database: string | null, by: string | null): void {
    if (isOfConnection(code, first, database)) keeps = true;
    if (database !== 'temp') effects = { ...effects, writes: true };
    if (by !== null || SCHEMA_TABLES.has(first ?? '')) return;
    if (code === constants.SQLITE_INSERT) effects = { ...effects, inserts: true };
    if (CHANGING_ROWS.has(code)) effects = { ...effects, changesRows: true };
  }

  function allows(kind: Denial['kind'], code: number, first: string | null): boolean {
    if (kind === 'write') return phase === 'describe' || !(readOnly || readOnlyTransaction);
    // VACUUM fills an attached file without a name; VACUUM INTO names one. A caller's own ATTACH is asked for while it is prepared.
    const ofVacuum = code === constants.SQLITE_DETACH || (code === constants.SQLITE_ATTACH && first === '');
    return phase === 'run' && ofVacuum && !readOnly;
  }

  return {
    authorize(code, first, second, database, by) {
      const kind = verdictOf(code, first, second);
      if (kind === null) {
        if (phase === 'prepare' && OF_TRANSACTION.has(code)) effects = { ...effects, ofTransaction: true };
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
