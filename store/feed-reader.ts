import { join } from 'node:path';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { TEXT_FIELDS, type TextField } from '../query/event-fields.ts';
import { eventsRelation } from '../sql/events-relation.ts';
import { feedPageStatement } from '../sql/feed-statements.ts';
import { unmarkText } from '../sql/marked-text.ts';
import { logRow, readLogsStatement } from '../sql/segment-statements.ts';
import type { SqlStatement } from '../sql/statement.ts';
import { runStatement } from './duckdb-engine.ts';
import type { FeedEvent, FeedPage, FeedRequest } from './event-store.ts';
import { ingestClock, unpackIngestTimes } from './feed-ingest-times.ts';
import type { Snapshot } from './live-set.ts';
import { StoreError } from './store-error.ts';

const PAGE_EVENTS = 4_096;

export interface FeedScope {
  readonly snapshot: Snapshot;
  readonly segmentsFolder: string;
  readonly connection: DuckDBConnection;
  readonly signal: AbortSignal;
}

/** One page of the feed. */
export async function readFeedPage({ zones, afterSequence, limit }: FeedRequest, scope: FeedScope): Promise<FeedPage> {
  const { snapshot, segmentsFolder } = scope;
  const run = (statement: SqlStatement) => runStatement(scope.connection, statement, scope.signal);
  const segments = snapshot.segments.filter(({ maxSequence }) => maxSequence > afterSequence);
  const paths = segments.map(({ file }) => join(segmentsFolder, file));
  const end = snapshot.endSequence - 1n;
  const relation = eventsRelation(snapshot.hotTables, paths, snapshot.endSequence);
  const size = Math.min(limit, PAGE_EVENTS);
  const rows = await run(feedPageStatement(relation, { zones, after: afterSequence, upTo: end }, size + 1));
  const shown = rows.slice(0, size);
  const places = shown.flatMap(([, , , , place]) => (typeof place === 'bigint' ? [logRow(place)] : []));
  const wanted = [...Map.groupBy(places, ({ bundle }) => bundle)].map(([bundle, inBundle]) => {
    const found = snapshot.bundles.find(({ number }) => number === Number(bundle));
    if (found === undefined) {
      throw new StoreError('corrupt', `bundle ${bundle} is not in the catalog`);
    }
    return { bundle, path: join(segmentsFolder, found.file), rows: inBundle.map(({ row }) => row) };
  });
  const logs = new Map(wanted.length === 0 ? [] : (await run(readLogsStatement(wanted))).map(([place, log]) => [place, log as string]));
  const clock = ingestClock([
    ...snapshot.hotTables.flatMap(({ ingestTimes }) => ingestTimes),
    ...snapshot.bundles
      .filter(({ maxSequence }) => maxSequence > afterSequence)
      .flatMap(({ ingestTimes }) => unpackIngestTimes(ingestTimes)),
  ]);
  const events = shown.map((row) => feedEvent(row, logs, clock));
  const more = rows.length > size;
  return { events, lastSequence: more ? (events.at(-1)?.sequence ?? afterSequence) : end > afterSequence ? end : afterSequence, more };
}

function feedEvent(
  [seq, zone, timestamp, log, logPlace, logId, ...texts]: readonly DuckDBValue[],
  logs: ReadonlyMap<unknown, string>,
  clock: (sequence: bigint) => number,
): FeedEvent {
  const fields: Partial<Record<TextField, string>> = {};
  for (const [place, name] of TEXT_FIELDS.entries()) {
    const value = texts[place];
    if (typeof value === 'string') {
      fields[name] = unmarkText(value);
    }
  }
  const logJson = (log as string | null) ?? logs.get(logPlace);
  if (logJson === undefined) {
    throw new StoreError('corrupt', `there is no log at the place ${logPlace}`);
  }
  return {
    sequence: seq as bigint,
    zoneId: Number(zone),
    timestamp: Number(timestamp),
    ingestedAtMs: clock(seq as bigint),
    logId: unmarkText(logId as string),
    fields,
    logJson,
  };
}
