import { readCidr } from '../../query/cidr.ts';
import type { Dimension } from '../../query/event-fields.ts';
import { FILTER_OPS, type FilterOp } from '../../query/filter-ops.ts';
import { SEARCH_LIMITS } from '../../query/search-limits.ts';

/** Why a clause cannot be searched. */
export interface ClauseFault {
  /** The value that it is about; null: all of it. */
  readonly index: number | null;
  readonly message: string;
}

/** What is wrong with a clause, as far as a page can tell before it asks; null where nothing is. */
export function clauseFault(field: Dimension, op: FilterOp, values: readonly string[]): ClauseFault | null {
  if (values.length === 0) return { index: null, message: 'A value is missing' };
  if (values.length > SEARCH_LIMITS.alternatives) return { index: null, message: `At most ${SEARCH_LIMITS.alternatives} values` };
  if (FILTER_OPS[op].onAddresses === true && field !== 'ip') return { index: null, message: 'Networks are looked for in ip only' };
  for (const [index, value] of values.entries()) {
    if (FILTER_OPS[op].refusesEmpty === true && value === '') return { index, message: 'A text is missing' };
    const range = op === 'cidr' ? readCidr(value) : [];
    if ('fault' in range) return { index, message: `${JSON.stringify(value)} ${range.fault}` };
  }
  return null;
}
