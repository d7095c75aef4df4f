import { expect, test } from 'vitest';
import { zoneTablesUnderTest } from './zone-tables-under-test.ts';

const ZONE = 7;

test('while somebody searches no table is begun, until the search has ended', async () => {
  const { addSegment, borrow, quiet, tables, inMemory } = await zoneTablesUnderTest({ mostWaitMs: 600_000 });
  for (const rows of [10, 20, 30]) {
    await addSegment({ [ZONE]: rows });
  }
  const { promise: answer, resolve: end } = Promise.withResolvers<void>();
  const searched = quiet.duringSearch(() => answer);
  borrow(ZONE);
  borrow(ZONE);
  // Long enough for all of it, were it not for the search.
  for (let statements = 0; statements < 100; statements += 1) {
    expect(await inMemory()).toBe(0);
  }
  end();
  await searched;
  await tables.idle();
  expect(borrow(ZONE)?.table.zoneRows).toEqual(new Map([[ZONE, 60]]));
});

test('where somebody always searches a table is made beside that in the end', async () => {
  const { addSegment, borrow, quiet, tables } = await zoneTablesUnderTest({ mostWaitMs: 3 });
  for (const rows of [10, 20, 30]) {
    await addSegment({ [ZONE]: rows });
  }
  const { promise: answer, resolve: end } = Promise.withResolvers<void>();
  const searched = quiet.duringSearch(() => answer);
  borrow(ZONE);
  borrow(ZONE);
  await tables.idle();
  expect(borrow(ZONE)?.table.zoneRows).toEqual(new Map([[ZONE, 60]]));
  end();
  await searched;
});
