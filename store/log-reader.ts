import { join } from 'node:path';
import { readLogsStatement } from '../sql/segment-statements.ts';
import type { SearchScope } from './search-scope.ts';
import { StoreError } from './store-error.ts';

/** The log of each row: the one that came with it, or else what its bundle holds at its place. */
export async function readLogs(scope: SearchScope, rows: readonly LogSource[]): Promise<string[]> {
  const wanted = Map.groupBy(
    rows.filter(({ log }) => log === null),
    ({ bundle }) => bundle as bigint,
  );
  const bundles = [...wanted].map(([bundle, sources]) => ({
    bundle,
    path: join(scope.segmentsFolder, scope.bundle(bundle).file),
    places: sources.map(({ place }) => place as number),
  }));
  const read = bundles.length === 0 ? [] : await scope.run(readLogsStatement(bundles));
  const logs = new Map(read.map(([bundle, place, log]) => [placeKey(bundle as bigint, place as bigint), log as string]));
  return rows.map(({ log, bundle, place }) => {
    const found = log ?? logs.get(placeKey(bundle, place));
    if (found === undefined) {
      throw new StoreError('corrupt', `bundle ${bundle} has no row ${place}`);
    }
    return found;
  });
}

export interface LogSource {
  /** Null where the event is sealed; then the others are not. */
  readonly log: string | null;
  readonly bundle: bigint | null;
  readonly place: number | null;
}

function placeKey(bundle: bigint | null, place: bigint | number | null): string {
  return `${bundle} ${place}`;
}
