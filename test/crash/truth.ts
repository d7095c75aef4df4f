import type { OpenStore } from '../../store/embedded/open-store.ts';
import { rowsOf } from '../fixtures/answered-rows.ts';
import type { CanonicalEvent } from '../fixtures/canonical-batch.ts';
import { wholeFeed } from '../store/embedded/feed/whole-feed.ts';
import { rowsPlan } from '../store/embedded/stored-events.ts';

/** The partition of Kafka from which batches come. */
export const OFFSET = { topic: 'events', partition: 0 };

export interface Batch {
  readonly events: readonly CanonicalEvent[];
  /** The offset behind it in Kafka, if it comes from there. */
  readonly offset: bigint | undefined;
}

export interface AcknowledgedEvent {
  readonly event: CanonicalEvent;
  readonly sequence: bigint;
}

/** What a store has to have after a crash. */
export interface Truth {
  /** The present. */
  readonly nowMs: number;
  /** The events that were acknowledged, by their ids. */
  readonly acknowledged: ReadonlyMap<string, AcknowledgedEvent>;
  /** The batches that were not acknowledged yet: the first ones of them, each wholly, may be there. */
  readonly underWay: readonly Batch[];
  /** Of the acknowledged events those that are past the retention. */
  readonly mayBeGone: ReadonlySet<string>;
  /** The offset behind the last acknowledged batch that has one. */
  readonly offset: bigint | undefined;
}

interface FoundEvent {
  readonly logId: string;
  readonly zoneId: number;
  readonly timestamp: number;
  readonly logJson: string;
}

/** What a store answers. */
export interface Found {
  readonly rows: readonly FoundEvent[];
  readonly total: number;
  readonly feed: readonly (FoundEvent & { readonly sequence: bigint })[];
  readonly offset: bigint | undefined;
}

const PAGE = 500;

/** Asks a store for all that it has. */
export async function whatIsFound(store: OpenStore): Promise<Found> {
  const rows: FoundEvent[] = [];
  let total = 0;
  for (let index = 0; index * PAGE <= total; index += 1) {
    const result = await store.search(rowsPlan({ zones: 'all', page: { index, size: PAGE } }));
    if (result.kind !== 'rows') throw new Error('a search for rows found something else');
    rows.push(...(await rowsOf(result)).map(({ logId, zoneId, timestamp, logJson }) => ({ logId, zoneId, timestamp, logJson })));
    total = result.total;
  }
  const feed = (await wholeFeed(store, { limit: PAGE })).map(({ logId, zoneId, timestamp, logJson, sequence }) => ({
    logId,
    zoneId,
    timestamp,
    logJson,
    sequence,
  }));
  return { rows, total, feed, offset: await store.sourceOffset(OFFSET.topic, OFFSET.partition) };
}

/** Says what of an answer cannot be; undefined where all of it is as it has to be. */
export function contradiction(found: Found, truth: Truth): string | undefined {
  const different = Array.from({ length: truth.underWay.length + 1 }, (_, count) => differences(found, truth, count));
  return different.some((each) => each.length === 0) ? undefined : different[0]?.join('; ');
}

/** What is not as it has to be if the first `count` batches that were under way are there. */
function differences(found: Found, truth: Truth, count: number): string[] {
  const { acknowledged, mayBeGone } = truth;
  const here = truth.underWay.slice(0, count);
  const sent = new Map([...acknowledged].map(([logId, { event }]) => [logId, event]));
  for (const event of here.flatMap(({ events }) => events)) sent.set(event.logId, event);
  const offset = here.findLast((batch) => batch.offset !== undefined)?.offset ?? truth.offset;
  const sequences = found.feed.filter(({ logId, sequence }) => sequence !== (acknowledged.get(logId)?.sequence ?? sequence));
  return [
    ...wrongEvents('a search', found.rows, sent, mayBeGone),
    ...wrongEvents('the feed', found.feed, sent, mayBeGone),
    ...(found.total === found.rows.length ? [] : [`a search counts ${found.total} events and has ${found.rows.length}`]),
    ...sequences.map(({ logId, sequence }) => `the feed has ${logId} at ${sequence}`),
    ...(found.offset === offset ? [] : [`the offset is ${found.offset} instead of ${offset}`]),
  ];
}

function wrongEvents(
  where: string,
  found: readonly FoundEvent[],
  sent: ReadonlyMap<string, CanonicalEvent>,
  mayBeGone: ReadonlySet<string>,
): string[] {
  const ids = found.map(({ logId }) => logId);
  const unique = new Set(ids);
  const missing = [...sent.keys()].filter((logId) => !unique.has(logId) && !mayBeGone.has(logId));
  const wrong = found.filter((event) => {
    const { timestamp, shieldZoneId, log } = sent.get(event.logId) ?? {};
    return event.timestamp !== timestamp || event.zoneId !== shieldZoneId || event.logJson !== JSON.stringify(log);
  });
  return [
    ...missing.map((logId) => `${where} lacks ${logId}`),
    ...(unique.size === ids.length ? [] : [`${where} has ${ids.filter((id, index) => ids.indexOf(id) !== index)} twice`]),
    ...wrong.map(({ logId }) => `${where} has ${sent.has(logId) ? 'something else of' : 'what was never sent,'} ${logId}`),
  ];
}
