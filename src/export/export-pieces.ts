import type { RowPiece } from '../../query/plan/search-result.ts';
import type { AnswerPart } from '../http/answer-writes.ts';
import type { ExportFormat } from './export-format.ts';

/**
 * An export as pieces of an answer, the header first. Each piece is read while the one before it is written. `onRows` is called with the
 * number of rows of each piece once it is written. `src/http/begin-answer.ts` cuts off a client that takes nothing.
 */
export async function* exportPieces(
  { header, writeRow }: Pick<ExportFormat, 'header' | 'writeRow'>,
  pieces: AsyncIterable<RowPiece>,
  onRows: (count: number) => void,
): AsyncGenerator<Iterable<AnswerPart>, void, void> {
  const left = pieces[Symbol.asyncIterator]();
  let next = left.next();
  let before = header;
  try {
    for (let piece = await next; piece.done !== true; piece = await next) {
      next = left.next();
      // The next piece is awaited when this one is written, or never where the caller has gone.
      next.catch(() => {});
      yield written(before, piece.value, writeRow, onRows);
      before = '';
    }
    if (before !== '') yield [before];
  } finally {
    await Promise.allSettled([next]);
    await left.return?.();
  }
}

function* written(
  before: string,
  rows: RowPiece,
  writeRow: ExportFormat['writeRow'],
  onRows: (count: number) => void,
): Iterable<AnswerPart> {
  yield before;
  for (const row of rows) yield* writeRow(row);
  onRows(rows.length);
}
