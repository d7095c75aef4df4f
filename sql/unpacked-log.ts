import { PACKED_FIELDS } from '../query/packed-log.ts';
import { column } from './columns.ts';
import { type SqlFragment, sql, trusted } from './fragment.ts';

/**
 * The relation `packed` with its column `log` unpacked (see `query/packed-log.ts`). What was put in last is taken out first, so that whatever stands in the fields, each step undoes one.
 * Mostly a mark is there once or not at all; the general way takes twice the time.
 */
export function unpacked(packed: SqlFragment): SqlFragment {
  return PACKED_FIELDS.reduceRight((relation, name, place) => {
    const parts = sql`(SELECT *, str_split(log, ${trusted(`chr(${place + 1})`)}) AS parts FROM ${relation}) AS split`;
    // What parts are joined by has to be constant for `array_to_string`.
    const joined = sql`list_reduce(parts, lambda before, after: concat(before, ${column(name)}, after))`;
    const log = sql`CASE len(parts) WHEN 1 THEN log WHEN 2 THEN concat(parts[1], ${column(name)}, parts[2]) ELSE ${joined} END`;
    return sql`(SELECT * EXCLUDE (parts) REPLACE (${log} AS log) FROM ${parts}) AS packed`;
  }, packed);
}
