import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileMatcher, matchSubject } from '../../query/match/match-event.ts';
import { compileConditions, compileSearch } from '../../query/request/compile-search.ts';
import { rowsOf } from '../fixtures/answered-rows.ts';
import { storeRuns, type TestStore } from '../fixtures/test-store.ts';
import { oracleEvents, type RawEvent } from '../oracle/raw-event.ts';
import { searchOracle } from '../oracle/search-oracle.ts';
import { assertAsyncProperty, type DataSet, dataSets } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { arbitraryAddress, arbitraryRange, besideMasked, maskedAddress } from './arbitrary-address.ts';
import { appendEvents, NOW_MS, openStoreIn, withFolder } from './filled-store.ts';

const PROPERTY = 'address';
const EVENTS = 240;
const CLAUSES = propertyRuns(storeRuns(60));
const ZONE = 1;

/** All events at once, on one page. */
const WINDOW = { from: NOW_MS - 3_600_000, to: NOW_MS, pageSize: 500 };

/** Of an event: an address, whole or masked. */
const anyIp = fc.oneof({ arbitrary: arbitraryAddress, weight: 3 }, { arbitrary: maskedAddress, weight: 2 }, besideMasked);

/** The events of one family come first, then those of the other, then both: so some segments have no address at all of one of them. */
function rawEvents(dataSeed: number): readonly RawEvent[] {
  const addresses = fc.sample(anyIp, { seed: dataSeed, numRuns: EVENTS });
  const third = EVENTS / 3;
  const apart = addresses.slice(0, 2 * third).toSorted((a, b) => Number(a.includes(':')) - Number(b.includes(':')));
  return [...apart, ...addresses.slice(2 * third)].map((ip, index) => ({
    logId: `e${index}`,
    shieldZoneId: ZONE,
    timestamp: WINDOW.from + index,
    ip,
    log: {},
  }));
}

async function withEvents(raw: readonly RawEvent[], work: (store: TestStore) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const store = await openStoreIn(folder);
    try {
      for (const start of [0, 60, 120]) {
        await appendEvents(store, raw.slice(start, start + 60));
        await store.settle('flush');
      }
      await search(store, []);
      await appendEvents(store, raw.slice(180));
      await work(store);
    } finally {
      await store.close();
    }
  });
}

const body = (conditions: object) => Buffer.from(JSON.stringify(conditions));

async function search(store: TestStore, filters: readonly object[]): Promise<readonly string[]> {
  const result = await store.search(compileSearch(body({ ...WINDOW, filters }), { zoneId: ZONE, nowMs: NOW_MS }));
  return (await rowsOf(result)).map(({ logId }) => logId).toSorted();
}

async function checkClauses(data: DataSet): Promise<void> {
  const raw = rawEvents(data.seed);
  const events = oracleEvents(raw);
  const stored = fc.constantFrom(...raw.map(({ ip }) => String(ip)));
  // A range around a masked address begins or ends within its network, or has all of it.
  const bases = fc.oneof(stored.map(firstOfMasked), arbitraryAddress, besideMasked);
  const clause = fc.oneof(
    { arbitrary: clauseOf(fc.constant('cidr'), arbitraryRange(bases)), weight: 5 },
    { arbitrary: clauseOf(fc.constantFrom('eq', 'in'), fc.oneof(stored, stored.map(firstOfMasked), anyIp)), weight: 2 },
  );
  await withEvents(raw, async (store) => {
    const property = fc.asyncProperty(clause, async (filter) => {
      const filters = [filter];
      const expected = searchOracle(events, { ...WINDOW, filters }, ZONE).rows?.map(({ logId }) => logId) ?? [];
      const { matches } = compileMatcher(compileConditions(body({ filters })));
      const matched = events.filter(({ fields }) => matches(matchSubject(fields))).map(({ logId }) => logId);
      expect(matched.toSorted()).toEqual(expected.toSorted());
      expect(await search(store, filters)).toEqual(expected.toSorted());
    });
    await assertAsyncProperty(property, { data, numRuns: CLAUSES });
  });
}

const firstOfMasked = (ip: string): string => (ip.includes(':') ? ip.replace(/::?\*$/, '::') : ip.replace('*', '0'));

function clauseOf(op: fc.Arbitrary<string>, value: fc.Arbitrary<string>) {
  return fc.record({ field: fc.constant('ip'), op, value: fc.array(value, { minLength: 1, maxLength: 4 }) });
}

describe('the oracle, the matcher and a store agree which addresses lie in which ranges', () => {
  test.each(dataSets(PROPERTY, 1))(`on ${CLAUSES} random clauses over the addresses of seed $seed`, checkClauses);
});
