import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { createEventsTable, INSERTED_COLUMNS } from '../../sql/clickhouse/schema.ts';
import { searchEvents } from '../../store/clickhouse/search/search.ts';
import { rowsOf } from '../fixtures/answered-rows.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { GOLDEN_NOW } from '../golden/golden-case.ts';
import { batchOf, goldenLines } from '../golden/golden-events.ts';
import { EventTable, TABLE } from './event-table.ts';

const plan: SearchPlan = {
  zones: 'all',
  window: { fromMs: 0, toMs: GOLDEN_NOW },
  where: { kind: 'everything' },
  page: { index: 0, size: 500 },
  output: { kind: 'rows' },
};

let table: EventTable;

beforeAll(async () => {
  table = await EventTable.open();
});

afterAll(() => table.close());

/** The first column of a statement's rows. */
async function valuesOf(statement: string): Promise<unknown[]> {
  const { rows } = await table.reader.read({ text: statement, params: [] }, {});
  return rows.map(([value]) => value);
}

test('the table is made once', async () => {
  await table.reader.run(createEventsTable({ table: TABLE }));
  const columns = await valuesOf(
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '${TABLE}' ORDER BY position`,
  );
  expect(columns).toEqual([...INSERTED_COLUMNS, 'older', 'url', 'zoneText', 'log']);
});

test('ids of all kinds come back as they were', async () => {
  const ids = [
    '',
    '-',
    'f'.repeat(32),
    `${'0123456789abcdef'.repeat(2)}`,
    '01234567-89ab-cdef-0123-456789abcdef',
    'ABCDEF',
    'F'.repeat(32),
    'ünï',
  ];
  await table.insert(canonicalBatch(ids.map((logId) => ({ logId, shieldZoneId: 7, timestamp: 5 }))));
  const found = await rowsOf(await searchEvents({ ...plan, zones: [7] }, table.source, undefined));
  expect(new Set(found.map(({ logId }) => logId))).toEqual(new Set(ids));
});

test('the columns that are worked out have the log, the url and the zone of an event', async () => {
  await table.insert(batchOf(goldenLines()));
  const rows = await rowsOf(await searchEvents(plan, table.source, undefined));
  expect(rows.length).toBeGreaterThan(goldenLines().length / 2);
  const order = 'FINAL ORDER BY "timestamp" DESC, "logId", "shieldZoneId"';
  expect(await valuesOf(`SELECT "log" FROM "${TABLE}" ${order}`)).toEqual(rows.map(({ logJson }) => logJson));
  expect(await valuesOf(`SELECT "url" FROM "${TABLE}" ${order}`)).toEqual(rows.map(({ fields }) => fields['url'] ?? null));
  expect(await valuesOf(`SELECT "zoneText" FROM "${TABLE}" ${order}`)).toEqual(rows.map(({ zoneId }) => String(zoneId)));
});

test('of copies the first is kept by a merge', async () => {
  await table.copyAll();
  const before = await rowsOf(await searchEvents(plan, table.source, undefined));
  await table.reader.run(`SYSTEM START MERGES "${TABLE}"`);
  await table.reader.run(`OPTIMIZE TABLE "${TABLE}" FINAL`);
  expect(await valuesOf(`SELECT count() FROM "${TABLE}"`)).toEqual([String(before.length)]);
  expect(await rowsOf(await searchEvents(plan, table.source, undefined))).toEqual(before);
});
