import { expect, onTestFinished, test } from 'vitest';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import { readAllEvents } from '../../store/clickhouse/search/export.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { EventTable, TABLE } from './event-table.ts';

const FROM_MS = 1_790_000_000_000;

const plan: SearchPlan = {
  zones: 'all',
  window: { fromMs: FROM_MS, toMs: FROM_MS + 3_600_000 },
  where: { kind: 'everything' },
  page: { index: 0, size: 1 },
  output: { kind: 'rows' },
};

async function openTable(): Promise<EventTable> {
  const table = await EventTable.open();
  onTestFinished(() => table.close());
  return table;
}

test('an export has every event once and in its order, also where one millisecond has more than a statement reads', async () => {
  const table = await openTable();
  const events = Array.from({ length: 16_000 }, (_, nth) => ({
    logId: `id-${nth % 5_000}`,
    shieldZoneId: 1 + Math.floor(nth / 5_000),
    timestamp: FROM_MS + (nth < 10_000 ? 0 : nth),
  }));
  await table.insert(canonicalBatch(events));
  const found: string[] = [];
  const lasts: boolean[] = [];
  for await (const piece of readAllEvents(plan, table.source, undefined)) {
    lasts.push(piece.isLast);
    for (const { timestamp, logId, zoneId } of piece) found.push(`${timestamp} ${logId} ${zoneId}`);
  }
  const byId = (a: string, b: string) => (a < b ? -1 : Number(a > b));
  const inOrder = events.toSorted((a, b) => b.timestamp - a.timestamp || byId(a.logId, b.logId) || a.shieldZoneId - b.shieldZoneId);
  expect(found).toEqual(inOrder.map(({ timestamp, logId, shieldZoneId }) => `${timestamp} ${logId} ${shieldZoneId}`));
  expect(lasts.indexOf(true)).toBe(lasts.length - 1);
});

test('an export without events has no piece', async () => {
  const table = await openTable();
  expect(await readAllEvents(plan, table.source, undefined).next()).toEqual({ done: true, value: undefined });
});

test('an export does not see what is stored after its first request', async () => {
  const table = await openTable();
  const events = Array.from({ length: 8_000 }, (_, nth) => ({
    logId: `id-${String(nth).padStart(4, '0')}`,
    shieldZoneId: 1,
    timestamp: FROM_MS + (nth < 4_000 ? 1_000_000 : 1),
  }));
  await table.insert(canonicalBatch(events));
  const ids: string[] = [];
  for await (const piece of readAllEvents(plan, table.source, undefined)) {
    ids.push(...Array.from(piece, ({ logId }) => logId));
    await table.insert(canonicalBatch([{ logId: 'earlier', shieldZoneId: 1, timestamp: FROM_MS + 1 }]));
  }
  expect(ids).toEqual(events.map(({ logId }) => logId));
});

test('an export whose events expire before they are read is cut off with an error', async () => {
  const table = await openTable();
  const event = { shieldZoneId: 1, log: { text: 'x'.repeat(3_000_000) } };
  await table.insert(canonicalBatch(['a', 'b', 'c'].map((logId) => ({ ...event, logId, timestamp: FROM_MS + 1 }))));
  const pieces = readAllEvents(plan, table.source, undefined);
  expect((await pieces.next()).value?.length).toBe(1);
  await table.reader.run(`ALTER TABLE "${TABLE}" DROP PARTITION ${Math.floor(FROM_MS / 86_400_000)}`);
  await expect(pieces.next()).rejects.toThrow('of 1 events that were found, 1 expired before they were read; try again');
});
