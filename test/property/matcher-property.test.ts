import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileMatcher, matchSubject } from '../../query/match/match-event.ts';
import { compileConditions, compileExport } from '../../query/request/compile-search.ts';
import type { OpenStore } from '../../store/embedded/open-store.ts';
import { HOSTILE_STRINGS } from '../corpus/hostile-strings.ts';
import { oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { matchingEvents } from '../oracle/search-oracle.ts';
import { assertAsyncProperty, type DataSet, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { type FedEvent, wholeFeed } from '../store/embedded/feed/whole-feed.ts';
import { arbitraryRequest } from './arbitrary-request.ts';
import { appendEvents, generateRawEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';

const PROPERTY = 'matcher';
const DATA_SETS = 2;
const EVENTS = 450;
const REQUESTS = propertyRuns(120);
const ZONE = 1;
/** Less than a page of the search, so that one answer has every event that matches. */
const MAX_ROWS = 500;

const [FROM, TO] = [NOW_MS - 72 * 3_600_000 - 60_000, NOW_MS + 60_000];

/** Random events of one zone, and texts that have broken search engines, each in every column. */
function rawEvents(dataSeed: number): readonly RawEvent[] {
  const random = generateRawEvents(dataSeed, EVENTS - HOSTILE_STRINGS.length).map((event) => ({ ...event, shieldZoneId: ZONE }));
  const hostile = HOSTILE_STRINGS.map(({ text }, index) => {
    const columns = { feature: text, ruleId: text, ruleName: text, ip: text, ja4: text, ua: text, url: text, country: text, action: text };
    return { logId: `hostile-${index}`, shieldZoneId: ZONE, timestamp: NOW_MS - index, ...columns, log: {} };
  });
  return [...random, ...hostile];
}

/** Half of the events are flushed, so that the SQL goes over segments too. */
async function withEvents(
  dataSeed: number,
  work: (store: OpenStore, stored: readonly FedEvent[], raw: readonly RawEvent[]) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const raw = rawEvents(dataSeed);
    const store = await openStoreIn(folder);
    try {
      await appendEvents(store, raw.slice(0, EVENTS / 2));
      await store.flushNow();
      await appendEvents(store, raw.slice(EVENTS / 2));
      await work(store, await wholeFeed(store, { zones: [ZONE], limit: EVENTS }), raw);
    } finally {
      await store.close();
    }
  });
}

const identity = ({ timestamp, logId }: { readonly timestamp: number; readonly logId: string }) => JSON.stringify([timestamp, logId]);

async function checkMatches(data: DataSet): Promise<void> {
  await withEvents(data.seed, async (store, stored, raw) => {
    const events = oracleEvents(raw);
    const requests = fc.tuple(arbitraryRequest(events, NOW_MS), fc.option(arbitraryRequest(events, NOW_MS), { freq: 2 }));
    const property = fc.asyncProperty(requests, async ([{ body }, excluding]) => {
      const conditions = { query: body.query ?? null, filters: body.filters ?? null, exclude: excluding?.body.filters ?? null };
      const bytes = Buffer.from(JSON.stringify({ from: FROM, to: TO, ...conditions }));
      const plan = compileExport(bytes, { zones: [ZONE], nowMs: NOW_MS });
      const searched = await store.search({ ...plan, page: { index: 0, size: MAX_ROWS } });
      const { matches } = compileMatcher(compileConditions(Buffer.from(JSON.stringify(conditions))));
      const matched = stored.filter(({ fields }) => matches(matchSubject(fields))).map(identity);
      expect(matched.sort()).toEqual(searched.kind === 'rows' ? searched.rows.map(identity).sort() : null);
      // The oracle takes its wildcards from micromatch and its ranges from ipaddr.js, and shares no code with either.
      const expected = matchingEvents(events, { from: FROM, to: TO, ...conditions }, ZONE);
      expect(matched).toEqual(expected.map(identity).sort());
    });
    await assertAsyncProperty(property, { data, numRuns: REQUESTS });
  });
}

describe('the matcher, the SQL and the oracle agree, event by event', () => {
  test.each(dataSets(PROPERTY, DATA_SETS))(`on ${REQUESTS} random conditions over the events of seed $seed`, checkMatches);
});
