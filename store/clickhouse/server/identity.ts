import { IDENTITY_TABLE } from '../../../sql/clickhouse/store-tables.ts';
import { IncompatibleStore, StoreError } from '../../store-error.ts';

/** The oldest server that the store was tried on. */
const OLDEST_SERVER = [26, 7] as const;

/** What a server tells of itself. */
export interface ServerIdentity {
  readonly version: string;
  /** The number of the store in the database; undefined where there is none. */
  readonly storeId: number | undefined;
  /** The tables of the database of which other servers have replicas. */
  readonly replicated: readonly string[];
}

/** One row: the version, the number of the store as a text, which is empty where there is none, and the names of the replicated tables. */
export const IDENTITY = `SELECT version(), anyIf(comment, name = '${IDENTITY_TABLE}'), groupArrayIf(name, engine LIKE 'Replicated%')
  FROM system.tables WHERE database = currentDatabase()`;

/** Reads the answer to {@link IDENTITY}. */
export function identityIn(row: readonly unknown[]): ServerIdentity {
  const [version, storeId, replicated] = row as readonly [string, string, readonly string[]];
  return { version, storeId: storeId === '' ? undefined : Number(storeId), replicated };
}

/**
 * Throws {@link IncompatibleStore} for a server that is too old, and `StoreError` (`unavailable`) for one that has not this store.
 *
 * @param expected the number of the store; undefined where any will do, and none
 */
export function checkIdentity({ version, storeId }: ServerIdentity, url: string, expected: number | undefined): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new IncompatibleStore(`ClickHouse at ${url} has version ${version}; allowed: ${OLDEST_SERVER.join('.')} or later`);
  }
  if (expected !== undefined && storeId !== expected) {
    const found = storeId === undefined ? 'no store' : `another store (${storeId})`;
    throw new StoreError(
      'unavailable',
      `ClickHouse at ${url} has ${found} in CLICKHOUSE_DATABASE, and not that of this program (${expected})`,
    );
  }
}
