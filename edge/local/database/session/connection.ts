import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { makeStatementGuard, type StatementGuard } from './statement-guard.ts';
import { makeWriteAheadLog, type WriteAheadLog } from './write-ahead-log.ts';

export interface ConnectionOptions {
  readonly path: string;
  readonly readOnly: boolean;
  readonly lockWaitMs: number;
  readonly valueBytes: number;
  /** Of the file, and of the temporary tables of this connection. */
  readonly fileBytes: number;
  readonly logBytes: number;
  readonly sqlBytes: number;
  /** Called when a transaction was begun (`true`), and when it ended. */
  readonly onTransaction: (isOpen: boolean) => void;
}

/** A row as node:sqlite gives it with `returnArrays`. */
export type Row = readonly SQLOutputValue[];

/** One connection to the database, held to what its token allows by the engine itself. */
export interface Connection {
  readonly db: DatabaseSync;
  readonly guard: StatementGuard;
  readonly log: WriteAheadLog;
  readonly readOnly: boolean;
  readonly sqlBytes: number;
  /** Called after every statement, so that `transactionMs` is true. */
  followTransaction(): void;
  /** How long the open transaction has been; null where none is. */
  transactionMs(): number | null;
  /** All changes of rows since the connection was opened, those of the last statement, the last rowid. */
  counters(): { readonly total: bigint; readonly last: bigint; readonly rowid: bigint };
  /** Runs `work` so that all it changes is kept, or, when it throws, none, inside or outside of a transaction. */
  atomically<T>(work: () => T): T;
}

function asBigInts(statement: StatementSync): readonly bigint[] {
  return statement.get() as unknown as readonly bigint[];
}

/** A limit of the connection, not of the file: every connection has to set it. */
function limitPages(db: DatabaseSync, fileBytes: number): void {
  for (const schema of ['main', 'temp']) {
    const [pageBytes = 4_096n] = asBigInts(db.prepare(`PRAGMA ${schema}.page_size`));
    db.exec(`PRAGMA ${schema}.max_page_count = ${BigInt(fileBytes) / pageBytes}`);
  }
}

/** Opens the database's file, which exists. */
export function openConnection(options: ConnectionOptions): Connection {
  const { path, readOnly, lockWaitMs, valueBytes, fileBytes, logBytes, sqlBytes, onTransaction } = options;
  const db = new DatabaseSync(path, {
    readOnly,
    timeout: lockWaitMs,
    readBigInts: true,
    returnArrays: true,
    enableForeignKeyConstraints: true,
    limits: { length: valueBytes, sqlLength: sqlBytes },
  });
  limitPages(db, fileBytes);
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
  db.setAuthorizer(guard.authorize);
  let transactionSince: number | null = null;
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
    counters() {
      const [total = 0n, last = 0n, rowid = 0n] = asBigInts(counters);
      return { total, last, rowid };
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
