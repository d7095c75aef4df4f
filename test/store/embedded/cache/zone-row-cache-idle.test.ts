import { expect, test } from 'vitest';
import { beginSearch } from '../search/begin-search.ts';
import { zoneRowCacheUnderTest } from './zone-row-cache-under-test.ts';

const ZONE = 7;

/** A zone whose table has been asked for while another search is under way; that one is still to be ended. */
async function askedDuringSearch(maxWaitMs: number) {
  const under = await zoneRowCacheUnderTest({ maxWaitMs });
  for (const rows of [10, 20, 30]) {
    await under.addSegment({ [ZONE]: rows });
  }
  const search = beginSearch(under.searches);
  under.acquire(ZONE);
  under.acquire(ZONE);
  return { ...under, search };
}

test('while somebody searches no table is begun, until the search has ended', async () => {
  const { acquire, tables, inMemory, search } = await askedDuringSearch(600_000);
  // Long enough for all of it, were it not for the search.
  for (let statements = 0; statements < 100; statements += 1) {
    expect(await inMemory()).toBe(0);
  }
  search.end();
  await search.ended;
  await tables.idle();
  expect(acquire(ZONE)?.table.zoneRows).toEqual(new Map([[ZONE, 60]]));
});

test('where somebody always searches a table is made beside that in the end', async () => {
  const { acquire, tables, search } = await askedDuringSearch(3);
  await tables.idle();
  expect(acquire(ZONE)?.table.zoneRows).toEqual(new Map([[ZONE, 60]]));
  search.end();
  await search.ended;
});
