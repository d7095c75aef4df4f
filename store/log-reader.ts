import { join } from 'node:path';
import { logRow, readLogsStatement } from '../sql/segment-statements.ts';
import type { SearchScope } from './search-scope.ts';
import { StoreError } from './store-error.ts';

/** What bundles hold at the places, packed; undefined for a place that is null, where an event is not sealed. */
export async function readLogs(scope: SearchScope, places: readonly (bigint | null)[]): Promise<(string | undefined)[]> {
  const sealed = places.filter((place) => place !== null).map(logRow);
  const wanted = [...Map.groupBy(sealed, ({ bundle }) => bundle)].map(([bundle, inBundle]) => ({
    bundle,
    path: join(scope.segmentsFolder, scope.bundle(bundle).file),
    rows: inBundle.map(({ row }) => row),
  }));
  const read = wanted.length === 0 ? [] : await scope.run(readLogsStatement(wanted));
  const logs = new Map(read.map(([logPlace, log]) => [logPlace, log as string]));
  return places.map((place) => {
    const found = place === null ? undefined : logs.get(place);
    if (place !== null && found === undefined) {
      throw new StoreError('corrupt', `there is no log at the place ${place}`);
    }
    return found;
  });
}
