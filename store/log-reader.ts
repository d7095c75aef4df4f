import { logRow } from '../sql/segment-statements.ts';
import { readBundleRows } from './bundle-reader.ts';
import type { SearchScope } from './search-scope.ts';

/** So many bundles are read at the same time: most of it is waiting. */
const BUNDLES_AT_ONCE = 4;

/**
 * The packed logs of events, by their `logPlace`. Undefined where they have more bytes than `mostBytes` together.
 * Rejects with `StoreError` (`corrupt`) where one is not there.
 */
export async function readLogs(
  scope: SearchScope,
  places: readonly bigint[],
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<string[] | undefined> {
  const logs = new Array<string>(places.length);
  let bytes = 0;
  const keep = (index: number, log: Buffer) => {
    bytes += log.length;
    logs[index] = bytes > mostBytes ? '' : log.toString();
  };
  const sealed: { readonly index: number; readonly bundle: number; readonly row: number }[] = [];
  for (const [index, place] of places.entries()) {
    if (place < 0n) {
      keep(index, scope.hotLog(-place));
    } else {
      sealed.push({ index, ...logRow(place) });
    }
  }
  const bundles = [...Map.groupBy(sealed, ({ bundle }) => bundle)].values();
  const readOn = async () => {
    for (const [number, rows] of bundles) {
      scope.signal?.throwIfAborted();
      if (bytes > mostBytes) {
        return;
      }
      const indexOf = new Map(rows.map(({ row, index }) => [row, index]));
      const ascending = [...indexOf.keys()].sort((a, b) => a - b);
      await readBundleRows(scope.bundle(number), scope.links.segmentsFolder, ascending, (row, log) =>
        keep(indexOf.get(row) as number, log),
      );
    }
  };
  await Promise.all(Array.from({ length: BUNDLES_AT_ONCE }, readOn));
  return bytes > mostBytes ? undefined : logs;
}
