import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StatementError } from '../statement-error.ts';
import type { StatementEffects } from './statement-guard.ts';

export interface WriteAheadLogOptions {
  readonly db: DatabaseSync;
  /** Of the database's file. */
  readonly path: string;
  readonly maxBytes: number;
  readonly lockWaitMs: number;
  /** Runs statements that callers may not. */
  readonly unguarded: <T>(work: () => T) => T;
}

/** The write-ahead log, which grows with every write as long as any transaction reads from it (https://sqlite.org/wal.html#bigwal). */
export interface WriteAheadLog {
  /**
   * Empties a log that is as large as is allowed before a statement writes. Throws StatementError `SQLITE_FULL` where transactions of
   * others, or the statement's own, keep it from being emptied.
   */
  makeRoom(effects: StatementEffects): void;
  /** Whether transactions of others did so since this was asked last. */
  wasHeld(): boolean;
}

/** SQLite cuts the file to this share of the limit when it begins anew, so that its size tells what it holds. */
const KEPT_SHARE = 4;

export function makeWriteAheadLog({ db, path, maxBytes, lockWaitMs, unguarded }: WriteAheadLogOptions): WriteAheadLog {
  let isHeld = false;
  db.exec(`PRAGMA journal_size_limit = ${Math.floor(maxBytes / KEPT_SHARE)}`);

  const sizeBytes = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

  function full(size: number, why: string): StatementError {
    return new StatementError('SQLITE_FULL', `the write-ahead log has ${size} bytes; allowed: up to ${maxBytes}; ${why}`);
  }

  /** Waits for the transactions of others as for any lock. Throws the engine's error where another stream is writing. */
  function empty(): void {
    const [isBusy] = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as unknown as readonly bigint[];
    if (isBusy === 0n) return;
    db.exec('PRAGMA busy_timeout = 0');
    try {
      db.exec('BEGIN IMMEDIATE');
      db.exec('ROLLBACK');
    } finally {
      db.exec(`PRAGMA busy_timeout = ${lockWaitMs}`);
    }
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
