import { readCidr } from '../../query/cidr.ts';
import type { Dimension } from '../../query/event-fields.ts';
import { FILTER_OPS, type FilterOp } from '../../query/filter-ops.ts';
import { SEARCH_LIMITS } from '../../query/search-limits.ts';
import { type LineFault, type LineSearch, parseSearchLine, searchLinePlaces } from '../../query/search-line.ts';
import { utf8Length } from '../../query/text-bytes.ts';

/** Why a clause cannot be searched. */
export interface ClauseFault {
  /** The value that it is about; null: all of it. */
  readonly index: number | null;
  readonly message: string;
}

/** What is wrong with a clause, as far as a page can tell before it asks; null where nothing is. */
export function clauseFault(field: Dimension, op: FilterOp, values: readonly string[]): ClauseFault | null {
  if (values.length === 0) return { index: null, message: 'A value is missing' };
  const isSearched = FILTER_OPS[op].searchesTexts === true;
  const most = isSearched ? SEARCH_LIMITS.searchedTexts : SEARCH_LIMITS.alternatives;
  if (values.length > most) return { index: null, message: `At most ${most} values` };
  if (FILTER_OPS[op].onAddresses === true && field !== 'ip') return { index: null, message: 'Networks are looked for in ip only' };
  for (const [index, value] of values.entries()) {
    if (FILTER_OPS[op].refusesEmpty === true && value === '') return { index, message: 'A text is missing' };
    if (isSearched && utf8Length(value) > SEARCH_LIMITS.searchedTextBytes) {
      return { index, message: `At most ${SEARCH_LIMITS.searchedTextBytes} bytes` };
    }
    const range = op === 'cidr' ? readCidr(value) : [];
    if ('fault' in range) return { index, message: `${JSON.stringify(value)} ${range.fault}` };
  }
  return null;
}

/** A line as a search, with the checks that the program would make of its clauses. */
export function checkedLine(line: string): LineSearch | LineFault {
  const read = parseSearchLine(line);
  if ('fault' in read) return read;
  const places = searchLinePlaces(line);
  for (const side of ['filters', 'exclude'] as const) {
    for (const [index, { field, op, value }] of read[side].entries()) {
      const fault = clauseFault(field, op, value);
      if (fault === null) continue;
      const place = places[side][index];
      const position = (fault.index === null ? place?.position : place?.values[fault.index]) ?? 0;
      return { fault: `character ${position + 1}: ${fault.message}`, position };
    }
  }
  return read;
}
