import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OpenStore } from '../../store/embedded/open-store.ts';
import { oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { searchOracle } from '../oracle/search-oracle.ts';
import { arbitraryRequest } from './arbitrary-request.ts';
import { keepFailingSeed, readFailingSeeds } from './failing-seeds.ts';
import { appendEvents, generateRawEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';
import { propertyRuns } from './property-runs.ts';
import { answer } from './search-answer.ts';

const PROPERTY = 'zone-row-cache';
const HISTORIES = propertyRuns(8);
const HOUR_MS = 3_600_000;

/** One step in the life of a store whose zones are read into memory as soon as they are searched. */
type Step =
  | { readonly kind: 'append'; readonly count: number }
  | { readonly kind: 'flush' | 'compact' | 'expire' | 'unuse' }
  | { readonly kind: 'search'; readonly seed: number; readonly count: number };

const simple = (kind: 'flush' | 'compact' | 'expire' | 'unuse', weight: number) => ({ arbitrary: fc.constant({ kind }), weight });

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 60 }) }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant('search' as const), seed: fc.integer(), count: fc.integer({ min: 1, max: 25 }) }), weight: 5 },
  simple('flush', 4),
  simple('compact', 1),
  simple('expire', 1),
  simple('unuse', 1),
);

/** Takes the steps, and holds every answer against the oracle's; returns how many searches found a table. */
async function live(folder: string, dataSeed: number, steps: readonly Step[]): Promise<number> {
  const clock = { nowMs: NOW_MS };
  const store = await openStoreIn(folder, { now: () => clock.nowMs, zoneRowCache: { manyFiles: 1, remadeAfterMs: 0 } });
  const raw: RawEvent[] = [];
  let fromTables = 0;
  const append = async (count: number) => {
    const events = generateRawEvents(dataSeed + raw.length, count, clock.nowMs);
    await appendEvents(store, events, clock.nowMs);
    raw.push(...events);
  };
  try {
    await append(80);
    await store.flushNow();
    for (const step of steps) {
      switch (step.kind) {
        case 'append':
          await append(step.count);
          break;
        case 'flush':
          await store.flushNow();
          break;
        case 'compact':
          await store.compactNow();
          break;
        case 'expire':
          clock.nowMs += 13 * HOUR_MS;
          await store.dropExpiredNow();
          break;
        case 'unuse':
          clock.nowMs += HOUR_MS;
          break;
        case 'search':
          fromTables += await search(store, raw, clock.nowMs, step);
      }
    }
  } finally {
    await store.close();
  }
  return fromTables;
}

/** Some searches have a table, some set one going, and some come while one is being made. */
async function search(
  store: OpenStore,
  raw: readonly RawEvent[],
  nowMs: number,
  { seed, count }: { seed: number; count: number },
): Promise<number> {
  const events = oracleEvents(raw);
  let fromTables = 0;
  for (const [index, request] of fc.sample(arbitraryRequest(events, nowMs), { seed, numRuns: count }).entries()) {
    if (index % 3 === 0) {
      await store.zoneRowCacheIdle();
    }
    fromTables += store.stats().cachedZones > 0 ? 1 : 0;
    expect(await answer(store, request, nowMs)).toEqual(JSON.parse(JSON.stringify(searchOracle(events, request.body, request.zoneId))));
  }
  return fromTables;
}

async function check(known?: { readonly dataSeed: number; readonly seed: number; readonly path: string }): Promise<void> {
  let fromTables = 0;
  const dataSeed = known?.dataSeed ?? Math.floor(Math.random() * 2 ** 31);
  const history = fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
    await withFolder(async (folder) => {
      fromTables += await live(folder, dataSeed, steps);
    });
  });
  const parameters = known === undefined ? { numRuns: HISTORIES } : { seed: known.seed, path: known.path, numRuns: 1, endOnFailure: true };
  const details = await fc.check(history, parameters);
  if (details.failed) {
    if (details.counterexamplePath !== null) {
      keepFailingSeed(PROPERTY, { dataSeed, seed: details.seed, path: details.counterexamplePath });
    }
    throw new Error(fc.defaultReportMessage(details) ?? 'the property failed', { cause: details.errorInstance });
  }
  if (known === undefined) {
    expect(fromTables).toBeGreaterThan(0);
  }
}

test.each(readFailingSeeds(PROPERTY).map((failing) => ({ failing })))('a history that failed before: $failing', async ({ failing }) => {
  await check(failing);
});

test(`in ${HISTORIES} random histories of appends, flushes, merges and retention, zones in memory or not, every search answers what the oracle answers`, async () => {
  await check();
});
