import type { DuckDBConnection } from '@duckdb/node-api';
import { type BundlePart, type FeedStretch, hotFeed, logRowsStatement, sealedFeed } from '../sql/feed-statements.ts';
import type { SqlFragment } from '../sql/fragment.ts';
import { runStatement } from './duckdb-engine.ts';
import { type IngestTime, unpackIngestTimes } from './feed-ingest-times.ts';
import { partsOf } from './feed-plan.ts';
import { type HotPart, hotLogOf, sourcesOf } from './hot-part.ts';
import type { Snapshot } from './live-set.ts';
import type { ReadLinks } from './read-links.ts';

/** Where a stretch of the feed is read from, and when its events were taken in. */
export interface FeedSource {
  readonly stretch: FeedStretch;
  readonly feed: SqlFragment;
  readonly times: readonly IngestTime[];
  /** Texts and logs of the stretch are no longer than this together. */
  readonly mostBytes: number;
  /** The packed log of an event by its sequence, where the feed has none. */
  readonly logOf?: (sequence: bigint) => Buffer;
}

/** For so many zones it is worth asking where in a bundle each of them lies. */
const ZONES_APART = 4;

export function hotSource({ hotParts }: Pick<Snapshot, 'hotParts'>, stretch: FeedStretch): FeedSource {
  const parts = hotParts.filter(({ lastSequence }) => lastSequence > stretch.after);
  const mostBytes = parts.reduce((sum, part) => sum + bytesWithin(part, stretch), 0);
  const logOf = (sequence: bigint) => hotLogOf(parts, sequence);
  return { stretch, feed: hotFeed(sourcesOf(parts), stretch), times: parts.flatMap(({ journals }) => journals), mostBytes, logOf };
}

/** Of all journals that have events of the stretch. */
function bytesWithin({ journals, lastSequence }: HotPart, { after, upTo }: FeedStretch): number {
  return journals.reduce((sum, { firstSequence, sizeBytes }, place) => {
    const end = (journals[place + 1]?.firstSequence ?? lastSequence + 1n) - 1n;
    return end > after && firstSequence <= upTo ? sum + sizeBytes : sum;
  }, 0);
}

/** Undefined where nothing of the stretch is there. Of the bundles no more is read than the rows between the first and the last that are wanted. */
export async function sealedSource(
  snapshot: Pick<Snapshot, 'segments' | 'bundles'>,
  stretch: FeedStretch,
  links: ReadLinks,
  connection: DuckDBConnection,
  signal: AbortSignal,
): Promise<FeedSource | undefined> {
  const { zones } = stretch;
  const found = partsOf(snapshot, stretch);
  if (found === undefined) {
    return undefined;
  }
  const { segments, bundles } = found;
  const paths = segments.map(({ file }) => links.toSegment(file));
  const pathOf = new Map(bundles.map(({ number, file }) => [number, links.toSegment(file)]));
  const whole = (): BundlePart[] => [...pathOf].map(([bundle, path]) => ({ bundle, path, rows: null }));
  const some = async (): Promise<BundlePart[]> => {
    const apart = zones.length <= ZONES_APART;
    const rows = await runStatement(connection, logRowsStatement(paths, stretch, apart), signal);
    return rows.flatMap(([number, , first, last]) => {
      const bundle = Number(number);
      const path = pathOf.get(bundle);
      return path === undefined ? [] : [{ bundle, path, rows: [first as bigint, last as bigint] as const }];
    });
  };
  const parts = zones === 'all' ? whole() : await some();
  if (parts.length === 0) {
    return undefined;
  }
  const times = bundles.flatMap(({ ingestTimes }) => unpackIngestTimes(ingestTimes));
  return { stretch, feed: sealedFeed(paths, parts, stretch), times, mostBytes: Number.POSITIVE_INFINITY };
}
