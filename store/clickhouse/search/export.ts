import type { SearchPlan, TimeWindow } from '../../../query/plan/search-plan.ts';
import type { RowPiece } from '../../../query/plan/search-result.ts';
import { type RowColumns, rowSliceStatement } from '../../../sql/clickhouse/row-statements.ts';
import { clickhouseDialect } from '../../../sql/dialect.ts';
import { type RowKey, slotCountStatement } from '../../../sql/row-statements.ts';
import { PIECE_BYTES } from '../../event-store.ts';
import { EventReader, type EventSource } from './event-reader.ts';
import { expiredEvents, keyOf, piecesOf } from './read-rows.ts';

/** The most rows that are read by one statement. */
const MAX_ROWS = 4_096;

const SLOTS = 1_024;

/** A range of time, and the number of matching events in it. */
interface SlotOfEvents extends TimeWindow {
  readonly events: number;
}

/** Every matching event as of the first request, newest first, then by `logId`, piece by piece. Rejects with the reason of the signal. */
export async function* readAllEvents(
  plan: SearchPlan,
  source: EventSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<RowPiece, void, void> {
  const reader = await EventReader.forSeveral(source, plan.zones, signal);
  const ahead = await countSlots(plan, reader, plan.window);
  for (;;) {
    const slot = await nextSlot(plan, reader, ahead);
    if (slot === undefined) {
      return;
    }
    yield* rowsOfSlot(plan, reader, slot, ahead.length === 0);
  }
}

/** Takes as many of the newest ranges as one statement reads. A range with more events is divided first, down to a millisecond. */
async function nextSlot(plan: SearchPlan, reader: EventReader, ahead: SlotOfEvents[]): Promise<SlotOfEvents | undefined> {
  for (let newest = ahead.at(-1); newest !== undefined && isDivisible(newest); newest = ahead.at(-1)) {
    ahead.pop();
    ahead.push(...(await countSlots(plan, reader, newest)));
  }
  const newest = ahead.pop();
  if (newest === undefined) {
    return undefined;
  }
  let { fromMs, events } = newest;
  for (let older = ahead.at(-1); older !== undefined && events + older.events <= MAX_ROWS; older = ahead.at(-1)) {
    ahead.pop();
    fromMs = older.fromMs;
    events += older.events;
  }
  return { fromMs, toMs: newest.toMs, events };
}

function isDivisible({ fromMs, toMs, events }: SlotOfEvents): boolean {
  return events > MAX_ROWS && toMs - fromMs > 1;
}

/** The ranges of the window that have events, the newest last. */
async function countSlots(plan: SearchPlan, reader: EventReader, window: TimeWindow): Promise<SlotOfEvents[]> {
  const slotMs = Math.ceil((window.toMs - window.fromMs) / SLOTS);
  const { rows } = await reader.rows(slotCountStatement(plan, reader.events, { window, slotMs }, clickhouseDialect));
  return rows
    .map(([slot, events]) => {
      const fromMs = window.fromMs + Number(slot) * slotMs;
      return { fromMs, toMs: Math.min(window.toMs, fromMs + slotMs), events: Number(events) };
    })
    .sort((a, b) => a.fromMs - b.fromMs);
}

async function* rowsOfSlot(
  plan: SearchPlan,
  reader: EventReader,
  slot: SlotOfEvents,
  isLast: boolean,
): AsyncGenerator<RowPiece, void, void> {
  let after: RowKey | undefined;
  for (let left = slot.events; left > 0; ) {
    const limit = Math.min(left, MAX_ROWS);
    const { rows } = await reader.rows(rowSliceStatement(plan, reader.events, slot, { after, limit }, PIECE_BYTES));
    if (rows.length < limit) {
      throw expiredEvents(limit, rows.length);
    }
    const read = rows as unknown as readonly RowColumns[];
    left -= read.length;
    after = keyOf(read.at(-1) as RowColumns);
    yield* piecesOf(plan, reader, read, isLast && left === 0);
  }
}
