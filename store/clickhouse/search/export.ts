import type { SearchPlan, TimeWindow } from '../../../query/plan/search-plan.ts';
import type { RowPiece } from '../../../query/plan/search-result.ts';
import { type RowColumns, rowSliceStatement } from '../../../sql/clickhouse/row-statements.ts';
import { clickhouseDialect } from '../../../sql/dialect.ts';
import { type RowKey, slotCountStatement } from '../../../sql/row-statements.ts';
import { type CountedRange, MOST_ROWS_AT_ONCE, newestLast, takeNewest } from '../../counted-ranges.ts';
import { PIECE_BYTES } from '../../event-store.ts';
import { EventReader, type EventSource } from './event-reader.ts';
import { expiredEvents, keyOf, piecesOf } from './read-rows.ts';

const SLOTS = 1_024;

/** Every matching event as of the first request, newest first, then by `logId`, piece by piece. Rejects with the reason of the signal. */
export async function* readAllEvents(
  plan: SearchPlan,
  source: EventSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<RowPiece, void, void> {
  const reader = await EventReader.forSeveral(source, plan.zones, signal);
  const count = (window: TimeWindow) => countSlots(plan, reader, window);
  const ahead = newestLast(await count(plan.window));
  for (let range = await takeNewest(ahead, count); range !== undefined; range = await takeNewest(ahead, count)) {
    yield* rowsOfRange(plan, reader, range, ahead.length === 0);
  }
}

/** The ranges of the window that have events, in no order. */
async function countSlots(plan: SearchPlan, reader: EventReader, window: TimeWindow): Promise<readonly CountedRange[]> {
  const slotMs = Math.ceil((window.toMs - window.fromMs) / SLOTS);
  const { rows } = await reader.rows(slotCountStatement(plan, reader.events, { window, slotMs }, clickhouseDialect));
  return rows.map(([slot, events]) => {
    const fromMs = window.fromMs + Number(slot) * slotMs;
    return { fromMs, toMs: Math.min(window.toMs, fromMs + slotMs), events: Number(events) };
  });
}

async function* rowsOfRange(
  plan: SearchPlan,
  reader: EventReader,
  range: CountedRange,
  isLast: boolean,
): AsyncGenerator<RowPiece, void, void> {
  let after: RowKey | undefined;
  for (let left = range.events; left > 0; ) {
    const limit = Math.min(left, MOST_ROWS_AT_ONCE);
    const { rows } = await reader.rows(rowSliceStatement(plan, reader.events, range, { after, limit }, PIECE_BYTES));
    if (rows.length < limit) {
      throw expiredEvents(limit, rows.length);
    }
    const read = rows as unknown as readonly RowColumns[];
    left -= read.length;
    after = keyOf(read.at(-1) as RowColumns);
    yield* piecesOf(plan, reader, read, isLast && left === 0);
  }
}
