import { TEXT_FIELDS, type TextField } from '../../../query/event-fields.ts';
import { markOf, PACKED_FIELDS } from '../../../query/packed-log.ts';
import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import type { EventRow, RowPiece } from '../../../query/plan/search-result.ts';
import { type RowColumns, rowsByKeyStatement } from '../../../sql/clickhouse/row-statements.ts';
import type { RowKey } from '../../../sql/row-statements.ts';
import { PIECE_BYTES } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { EventReader } from './event-reader.ts';

const MARKS = new RegExp(`[${PACKED_FIELDS.map((_, nth) => markOf(nth)).join('')}]`, 'g');

/** Rows as they were read. A row is made, and its log unpacked, when it is asked for. */
class ReadPiece implements RowPiece {
  readonly #rows: readonly RowColumns[];
  readonly isLast: boolean;
  readonly bytes: number;

  constructor(rows: readonly RowColumns[], isLast: boolean) {
    this.#rows = rows;
    this.isLast = isLast;
    this.bytes = rows.reduce((sum, row) => sum + bytesOf(row), 0);
  }

  get length(): number {
    return this.#rows.length;
  }

  *[Symbol.iterator](): Iterator<EventRow> {
    for (const row of this.#rows) {
      yield eventRow(row);
    }
  }
}

function eventRow([timestamp, logId, zoneId, , ...contents]: RowColumns): EventRow {
  const fields: Partial<Record<TextField, string>> = {};
  for (const [nth, name] of TEXT_FIELDS.entries()) {
    const text = contents[nth];
    if (typeof text === 'string') {
      fields[name] = text;
    }
  }
  const packed = contents.at(-1) as string;
  const log = packed.replace(MARKS, (mark) => fields[PACKED_FIELDS[mark.charCodeAt(0) - 1] as TextField] ?? '');
  return { zoneId, logId, timestamp: Number(timestamp), log: Buffer.from(log), fields };
}

function bytesOf(row: RowColumns): number {
  return Number(row[3]);
}

/** The rank of a row. */
export function keyOf([timestamp, logId, zoneId]: RowColumns): RowKey {
  return { timestamp: Number(timestamp), logId, zoneId };
}

/**
 * All of the rows as pieces of a few mebibytes: first those that were read with their contents, then the others, piece by piece when they
 * are asked for. `areLast`: no rows follow behind them. Rejects with the reason of the reader's signal once that has aborted.
 */
export async function* piecesOf(
  plan: SearchPlan,
  reader: EventReader,
  rows: readonly RowColumns[],
  areLast = true,
): AsyncGenerator<RowPiece, void, void> {
  const unread = rows.findIndex((row) => row.at(-1) === null);
  const first = unread < 0 ? rows : rows.slice(0, unread);
  if (first.length === 0) {
    return;
  }
  yield new ReadPiece(first, areLast && unread < 0);
  for (let from = first.length; from < rows.length; ) {
    reader.signal?.throwIfAborted();
    const to = from + fitting(rows.slice(from));
    yield new ReadPiece(await readContents(plan, reader, rows.slice(from, to).map(keyOf)), areLast && to === rows.length);
    from = to;
  }
}

/** How many of the first rows make a piece; at least one. */
function fitting(rows: readonly RowColumns[]): number {
  let bytes = 0;
  const tooMany = rows.findIndex((row, index) => {
    bytes += bytesOf(row);
    return index > 0 && bytes > PIECE_BYTES;
  });
  return tooMany < 0 ? rows.length : tooMany;
}

/** The error of a reading whose events the retention removes meanwhile. */
export function expiredEvents(found: number, read: number): StoreError {
  return new StoreError('overloaded', `of ${found} events that were found, ${found - read} expired before they were read; try again`);
}

async function readContents(plan: SearchPlan, reader: EventReader, keys: readonly RowKey[]): Promise<readonly RowColumns[]> {
  const { rows } = await reader.rows(rowsByKeyStatement(plan, reader.events, keys));
  if (rows.length < keys.length) {
    throw expiredEvents(keys.length, rows.length);
  }
  return rows as unknown as readonly RowColumns[];
}
