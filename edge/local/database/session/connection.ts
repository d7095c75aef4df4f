import { statSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import type { Counters, OpenRequest } from '../process-message.ts';
import { StatementError } from '../stream-plan.ts';
import { makeStatementGuard, type StatementEffects, type StatementGuard } from './statement-guard.ts';

/** Whoever finds the database locked waits in a queue. */
const NO_WAIT = 'PRAGMA busy_timeout = 0';

interface WriteAheadLogOptions {
  readonly db: DatabaseSync;
  /** The database's file. */
  readonly path: string;
  readonly maxBytes: number;
  readonly lockWaitMs: number;
  /** Runs statements that callers may not run. */
  readonly unguarded: <T>(work: () => T) => T;
}

/** The write-ahead log. It grows with every write while any transaction reads from it (https://sqlite.org/wal.html#bigwal). */
interface WriteAheadLog {
  /**
   * Empties a full log before a statement writes. Throws StatementError `SQLITE_FULL` where open transactions keep it from being emptied.
   */
  makeRoom(effects: StatementEffects): void;
  /** Whether transactions of other streams did so since the last call. */
  wasHeld(): boolean;
}

/** SQLite cuts the file to this share of the limit when it starts anew, so that its size tells what it holds. */
const KEPT_SHARE = 4;

function makeWriteAheadLog({ db, path, maxBytes, lockWaitMs, unguarded }: WriteAheadLogOptions): WriteAheadLog {
  let isHeld = false;
  db.exec(`PRAGMA journal_size_limit = ${Math.floor(maxBytes / KEPT_SHARE)}`);

  const sizeBytes = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

  function full(size: number, why: string): StatementError {
    return new StatementError('SQLITE_FULL', `the write-ahead log has ${size} bytes; allowed: up to ${maxBytes}; ${why}`);
  }

  /** Waits for transactions of other streams as for any lock. Throws the engine's error where another stream is writing. */
  function empty(): void {
    db.exec(`PRAGMA busy_timeout = ${lockWaitMs}`);
    try {
      const [isBusy] = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as unknown as readonly bigint[];
      if (isBusy === 0n) return;
    } finally {
      db.exec(NO_WAIT);
    }
    db.exec('BEGIN IMMEDIATE');
    db.exec('ROLLBACK');
    isHeld = true;
  }

  return {
    makeRoom({ writes, ofTransaction }) {
      if (!(writes || ofTransaction)) return;
      const size = sizeBytes();
      if (size < maxBytes) return;
      if (!db.isTransaction) unguarded(empty);
      if (!writes || sizeBytes() < maxBytes) return;
      throw full(size, db.isTransaction ? 'commit or roll back, then go on' : 'transactions that still read from it are ended; try again');
    },
    wasHeld() {
      const held = isHeld;
      isHeld = false;
      return held;
    },
  };
}

interface ConnectionOptions extends OpenRequest {
  /** Called with `true` when a transaction begins, and with `false` when it ends. */
  readonly onTransaction: (isOpen: boolean) => void;
  /** Waits until a statement that found the database locked may try again. Returns false where it has waited for too long. */
  readonly waitForLock: () => boolean;
  /** Called when such a statement has run or failed. */
  readonly onUnlocked: () => void;
}

/** A row as node:sqlite gives it with `returnArrays`. */
export type Row = readonly SQLOutputValue[];

/** A connection to the database. The engine itself enforces the rights of its token. */
export interface Connection {
  readonly db: DatabaseSync;
  readonly guard: StatementGuard;
  readonly log: WriteAheadLog;
  readonly readOnly: boolean;
  readonly sqlBytes: number;
  /** Call it after every statement, so that `transactionMs` is right. */
  followTransaction(): void;
  /** How long the open transaction has been; null where none is. */
  transactionMs(): number | null;
  counters(): Counters;
  /** Whether another connection cannot be given what this one has, besides its transaction. */
  keepsState(): boolean;
  /** Prepares or runs a statement, and once more in its turn while the database is locked. */
  whenUnlocked<T>(run: () => T): T;
  /** Runs `work` so that all of its changes are kept or, when it throws, none, inside or outside of a transaction. */
  atomically<T>(work: () => T): T;
}

/** SQLITE_BUSY_SNAPSHOT: the transaction reads what is out of date, which no waiting changes. */
const BUSY_SNAPSHOT = 517;

function isLocked(error: unknown): boolean {
  const { errcode = 0 } = error as { readonly errcode?: number };
  return (errcode & 0xff) === 5 && errcode !== BUSY_SNAPSHOT;
}

function asBigInts(statement: StatementSync): readonly bigint[] {
  return statement.get() as unknown as readonly bigint[];
}

/** The limit belongs to the connection and not to the file, so every connection sets it. */
function limitPages(db: DatabaseSync, fileBytes: number): void {
  const [pageBytes = 4_096n] = asBigInts(db.prepare('PRAGMA page_size'));
  db.exec(`PRAGMA max_page_count = ${BigInt(fileBytes) / pageBytes}`);
}

/** Changed rows up to which a stream may change its connection. Setting the counters takes a microsecond or less for each. */
const MAX_RESTORED_CHANGES = 100_000n;

/** Makes a new connection tell the counters of another one. SQLite has no call that sets them. */
function restoreCounters(db: DatabaseSync, { total, last, rowid }: Counters): void {
  db.exec('CREATE TEMP TABLE counted (id INTEGER PRIMARY KEY)');
  const replace = db.prepare(
    'REPLACE INTO temp.counted WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT ?2 FROM n WHERE ?1 > 0',
  );
  for (const changes of [total - last, last]) replace.run(changes, rowid);
  db.exec('DROP TABLE temp.counted');
}

/** Opens the database's file, which must exist. */
export function openConnection(options: ConnectionOptions): Connection {
  const { path, counters: earlier, readOnly, lockWaitMs, valueBytes, fileBytes, logBytes, sqlBytes } = options;
  const { onTransaction, waitForLock, onUnlocked } = options;
  const db = new DatabaseSync(path, {
    readOnly,
    timeout: lockWaitMs,
    readBigInts: true,
    returnArrays: true,
    enableForeignKeyConstraints: true,
    limits: { length: valueBytes, sqlLength: sqlBytes },
  });
  // SQLite limits neither the files of sorters nor those of subqueries. What is in memory counts in the memory of the process.
  db.exec('PRAGMA temp_store = MEMORY');
  limitPages(db, fileBytes);
  if (earlier !== null && earlier.total > 0n) restoreCounters(db, earlier);
  const guard = makeStatementGuard({ readOnly });
  const counters = db.prepare('SELECT total_changes(), changes(), last_insert_rowid()');
  const [savepoint, release, rollback] = ['SAVEPOINT statement', 'RELEASE statement', 'ROLLBACK TO statement'].map((sql) =>
    db.prepare(sql),
  );
  const log = makeWriteAheadLog({
    db,
    path,
    maxBytes: logBytes,
    lockWaitMs,
    unguarded(work) {
      db.setAuthorizer(null);
      try {
        return work();
      } finally {
        db.setAuthorizer(guard.authorize);
      }
    },
  });
  db.exec(NO_WAIT);
  db.setAuthorizer(guard.authorize);
  let transactionSince: number | null = null;
  function readCounters(): Counters {
    const [total = 0n, last = 0n, rowid = 0n] = asBigInts(counters);
    return { total, last, rowid };
  }
  return {
    db,
    guard,
    log,
    readOnly,
    sqlBytes,
    followTransaction() {
      if (db.isTransaction === (transactionSince !== null)) return;
      transactionSince = db.isTransaction ? performance.now() : null;
      onTransaction(db.isTransaction);
    },
    transactionMs: () => (transactionSince === null ? null : performance.now() - transactionSince),
    counters: readCounters,
    keepsState: () => guard.keepsState() || readCounters().total > MAX_RESTORED_CHANGES,
    whenUnlocked(run) {
      let hasWaited = false;
      try {
        for (;;) {
          try {
            return run();
          } catch (error) {
            if (!isLocked(error)) throw error;
            hasWaited = true;
            if (!waitForLock()) throw error;
          }
        }
      } finally {
        if (hasWaited) onUnlocked();
      }
    },
    atomically(work) {
      savepoint?.run();
      try {
        const result = work();
        release?.run();
        return result;
      } catch (error) {
        // A full disk or a conflict clause may have ended the transaction already.
        if (db.isTransaction) {
          rollback?.run();
          release?.run();
        }
        throw error;
      }
    },
  };
}
