import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileSearch } from '../../query/request/compile-search.ts';
import { searchJson } from '../../src/http/search-json.ts';
import { KNOWN_IN_TIME } from '../fixtures/known-in-time.ts';
import type { TestStore } from '../fixtures/test-store.ts';
import { uncounted, wholeAnswer } from '../fixtures/whole-answer.ts';
import { type OracleEvent, oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { type OracleRequest, searchOracle } from '../oracle/search-oracle.ts';
import { assertAsyncProperty, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { arbitraryRequest, type ZoneRequest } from './arbitrary-request.ts';
import { appendEvents, generateRawEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';

const DATA_SETS = propertyRuns(1);
const EVENTS = 700;
const REQUESTS = 5;
const ROUNDS = 12;
/** So often a request is made between two changes of the store, with a window a little later each time. */
const TIMES = 3;
const NEWEST_MS = NOW_MS + 60_000;

async function answer(store: TestStore, { zoneId, body }: ZoneRequest): Promise<unknown> {
  const plan = compileSearch(Buffer.from(JSON.stringify(body)), { zoneId, nowMs: NOW_MS });
  return JSON.parse((await wholeAnswer(searchJson(await store.search(plan), plan.page, uncounted))).toString());
}

function moved(body: OracleRequest, byMs: number): OracleRequest {
  const to = Math.min(NEWEST_MS, body.to + byMs);
  return { ...body, from: Math.min(to - 1, body.from + byMs), to };
}

/** Mostly group searches, and mostly of wide windows, in which whole segments lie. */
function arbitraryPolls(events: readonly OracleEvent[]): fc.Arbitrary<ZoneRequest> {
  const groupBy = fc.shuffledSubarray(['ip', 'action', 'country', 'ruleId', 'url', 'feature'], { minLength: 1, maxLength: 3 });
  const wide = fc.boolean();
  return fc.tuple(arbitraryRequest(events, NOW_MS), groupBy, wide).map(([{ zoneId, body }, by, isWide]) => ({
    zoneId,
    body: { ...body, groupBy: by, ...(isWide && { from: NOW_MS - 72 * 3_600_000, to: NEWEST_MS }) },
  }));
}

const steps = fc.array(fc.constantFrom('append', 'append', 'flush', 'flush', 'merge'), { minLength: ROUNDS, maxLength: ROUNDS });

/** Makes these searches again and again, while a store goes through the steps. */
async function poll(raw: readonly RawEvent[], polls: readonly ZoneRequest[], order: readonly string[]): Promise<void> {
  await withFolder(async (folder) => {
    const store = await openStoreIn(folder);
    let stored = 0;
    let movedMs = 0;
    const append = async () => {
      await appendEvents(store, raw.slice(stored, stored + 60));
      stored = Math.min(raw.length, stored + 60);
    };
    const change = { append, flush: () => store.settle('flush'), merge: () => store.settle('merge') };
    try {
      await append();
      await store.settle('flush');
      for (const step of order) {
        await change[step as keyof typeof change]();
        const events = oracleEvents(raw.slice(0, stored));
        for (const { zoneId, body } of polls) {
          for (let time = 0; time < TIMES; time += 1) {
            movedMs += 7;
            const now = moved(body, movedMs);
            const expected: unknown = JSON.parse(JSON.stringify(searchOracle(events, now, zoneId)));
            expect(await answer(store, { zoneId, body: now }), JSON.stringify({ zoneId, body: now })).toEqual(expected);
          }
        }
      }
    } finally {
      await store.close();
    }
  });
}

test.each(dataSets('group-by cache', DATA_SETS))(
  'searches that are made again and again, while events are stored, flushed and merged, answer what the oracle answers: seed $seed',
  async (data) => {
    const raw = generateRawEvents(data.seed, EVENTS);
    const polls = fc.array(arbitraryPolls(oracleEvents(raw)), { minLength: REQUESTS, maxLength: REQUESTS });
    const property = fc.asyncProperty(polls, steps, (asked, order) => poll(raw, asked, order));
    await assertAsyncProperty(property, { data, numRuns: 1, ...KNOWN_IN_TIME });
  },
);
