import { join } from 'node:path';
import { logRow, readLogsStatement } from '../sql/segment-statements.ts';
import type { SearchScope } from './search-scope.ts';
import { StoreError } from './store-error.ts';

export interface LogSource {
  /** Null where the event is sealed. */
  readonly log: string | null;
  /** Null where it is not. */
  readonly logPlace: bigint | null;
}

/** The log of each row: the one that came with it, or else what its bundle holds at its place. */
export async function readLogs(scope: SearchScope, rows: readonly LogSource[]): Promise<string[]> {
  const sealed = rows.filter(({ log }) => log === null).map(({ logPlace }) => logRow(logPlace as bigint));
  const wanted = [...Map.groupBy(sealed, ({ bundle }) => bundle)].map(([bundle, inBundle]) => ({
    bundle,
    path: join(scope.segmentsFolder, scope.bundle(bundle).file),
    rows: inBundle.map(({ row }) => row),
  }));
  const read = wanted.length === 0 ? [] : await scope.run(readLogsStatement(wanted));
  const logs = new Map(read.map(([logPlace, log]) => [logPlace, log as string]));
  return rows.map(({ log, logPlace }) => {
    const found = log ?? logs.get(logPlace);
    if (found === undefined) {
      throw new StoreError('corrupt', `there is no log at the place ${logPlace}`);
    }
    return found;
  });
}
