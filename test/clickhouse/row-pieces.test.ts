import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { RowPiece, SearchResult } from '../../query/plan/search-result.ts';
import { readAllEvents } from '../../store/clickhouse/search/export.ts';
import { searchEvents } from '../../store/clickhouse/search/search.ts';
import { PIECE_BYTES } from '../../store/event-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { EventTable } from './event-table.ts';

const FROM_MS = 1_790_000_000_000;
const LONG = 900_000;
const ROWS = 24;

/** Every third event is longer than a piece, and many have one time. */
const EVENTS = Array.from({ length: ROWS }, (_, nth) => ({
  logId: `id-${String(nth).padStart(2, '0')}`,
  shieldZoneId: 1 + (nth % 2),
  timestamp: FROM_MS + Math.floor(nth / 8),
  url: `/path/${nth}?of=the-event`,
  log: { nth, digits: [0.1, 1e21], url: `/path/${nth}?of=the-event`, text: 'x'.repeat(nth % 3 === 0 ? LONG * 5 : LONG) },
}));

const plan: SearchPlan = {
  zones: 'all',
  window: { fromMs: FROM_MS, toMs: FROM_MS + 1_000 },
  where: { kind: 'everything' },
  page: { index: 0, size: 500 },
  output: { kind: 'rows' },
};

let table: EventTable;

beforeAll(async () => {
  table = await EventTable.open();
  for (let from = 0; from < ROWS; from += 4) {
    await table.insert(canonicalBatch(EVENTS.slice(from, from + 4)));
  }
});

afterAll(() => table.close());

/** The events in the order of answers. */
const expected = EVENTS.toSorted((a, b) => b.timestamp - a.timestamp || a.logId.localeCompare(b.logId));

async function expectPieces(pieces: AsyncIterable<RowPiece>): Promise<void> {
  const ids: string[] = [];
  const lasts: boolean[] = [];
  for await (const piece of pieces) {
    expect(piece.bytes <= PIECE_BYTES || piece.length === 1).toBe(true);
    lasts.push(piece.isLast);
    for (const { logId, log } of piece) {
      const event = EVENTS.find((one) => one.logId === logId);
      expect(Buffer.from(log).equals(Buffer.from(JSON.stringify(event?.log)))).toBe(true);
      ids.push(logId);
    }
  }
  expect(ids).toEqual(expected.map(({ logId }) => logId));
  expect(lasts.length).toBeGreaterThan(5);
  expect(lasts.indexOf(true)).toBe(lasts.length - 1);
}

async function rowsIn(result: Promise<SearchResult>): Promise<AsyncIterable<RowPiece>> {
  const found = await result;
  if (found.kind !== 'rows') throw new Error('a search for rows found groups');
  return found.rows;
}

test('a page of long rows comes in pieces', async () => {
  await expectPieces(await rowsIn(searchEvents(plan, table.source, undefined)));
});

test('an export of long rows comes in pieces', async () => {
  await expectPieces(readAllEvents(plan, table.source, undefined));
});

test('the pieces end with the signal', async () => {
  const ended = new AbortController();
  const pieces = (await rowsIn(searchEvents(plan, table.source, ended.signal)))[Symbol.asyncIterator]();
  await pieces.next();
  ended.abort(new Error('the caller has gone'));
  await expect(pieces.next()).rejects.toThrow('the caller has gone');
});
