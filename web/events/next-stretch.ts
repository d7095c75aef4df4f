import { type ParsedRow, rowKey } from '../api/parsed-row.ts';
import type { Stretch } from '../table/loaded-pages.ts';

/**
 * The stretch of events behind the one that ends with `last`. Its window ends right behind the last row's time; `sameTime`, the rows of
 * exactly that time in their order, at least up to `last`, say which of them the earlier stretch has.
 */
export function nextStretch({ from }: Stretch, last: ParsedRow, sameTime: readonly ParsedRow[]): Stretch {
  const key = rowKey(last);
  return { from, to: last.timestamp + 1, skip: sameTime.findIndex((row) => rowKey(row) === key) + 1 };
}
