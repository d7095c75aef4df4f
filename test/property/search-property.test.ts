import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoreTuning } from '../../store/embedded/store-options.ts';
import { storeRuns, type TestStore, tuningsOf } from '../fixtures/test-store.ts';
import { type OracleEvent, oracleEvents } from '../oracle/raw-event.ts';
import { searchOracle } from '../oracle/search-oracle.ts';
import { assertAsyncProperty, type DataSet, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { arbitraryRequest } from './arbitrary-request.ts';
import { appendEvents, generateRawEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';
import { answer } from './search-answer.ts';

const PROPERTY = 'search';
const DATA_SETS = propertyRuns(1);
const EVENTS = 700;
/** In each of the two states of the store that {@link withFilledStore} goes through. */
const REQUESTS = storeRuns(48);

/**
 * Hands `work` the same store twice: with events in new segments of many hours, in compacted ones and in memtables, and again after all of
 * that was flushed and compacted and more came on top. Later parts hold events of old hours, and twins of events that are flushed already.
 */
async function withFilledStore(
  dataSeed: number,
  options: StoreTuning,
  work: (store: TestStore, events: readonly OracleEvent[]) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const raw = generateRawEvents(dataSeed, EVENTS);
    const store = await openStoreIn(folder, options);
    const append = (from: number, to: number) => appendEvents(store, raw.slice(from, to));
    try {
      await append(0, 150);
      await append(150, 200);
      await store.settle('flush');
      await append(200, 350);
      await store.settle('flush');
      await store.settle('merge');
      await append(350, 450);
      await store.settle('flush');
      await append(450, 500);
      await append(500, 600);
      await work(store, oracleEvents(raw.slice(0, 600)));
      await store.settle('flush');
      await store.settle('merge');
      await append(600, EVENTS);
      await work(store, oracleEvents(raw));
    } finally {
      await store.close();
    }
  });
}

async function checkRequests(store: TestStore, events: readonly OracleEvent[], data: DataSet): Promise<void> {
  const property = fc.asyncProperty(arbitraryRequest(events, NOW_MS), async (request) => {
    expect(await answer(store, request, NOW_MS)).toEqual(JSON.parse(JSON.stringify(searchOracle(events, request.body, request.zoneId))));
  });
  await assertAsyncProperty(property, { data, numRuns: REQUESTS });
}

const TWO_PHASES = { filtered: 0, otherwise: 0 };
const ALL_SINGLETONS = { events: 0, share: 0 };

describe.each(
  tuningsOf<[string, StoreTuning]>([
    ['whose events are kept while they are grouped', {}],
    ['that groups in two phases', { maxKept: TWO_PHASES }],
    ['that counts groups by fingerprints', { maxKept: { ...TWO_PHASES, singletons: ALL_SINGLETONS } }],
  ]),
)('any search of a store %s answers what the oracle answers', (_, options) => {
  test.each(dataSets(PROPERTY, DATA_SETS))(`${2 * REQUESTS} random requests over the events of seed $seed`, async (data) => {
    await withFilledStore(data.seed, options, (store, events) => checkRequests(store, events, data));
  });
});
