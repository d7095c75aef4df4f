import type { Dimension } from '../query/dimensions.ts';
import { column, type EventColumnName } from './columns.ts';
import { int32, joinSql, type SqlFragment, sql, text, trusted } from './fragment.ts';
import { splitUrl } from './text-match.ts';

/** The name of the key of the nth dimension, from 0. */
export const keyName = (position: number) => trusted(`key${position}`);

/**
 * The keys as a relation `wanted` with the condition that an event is in one of them, and `position`, the place of that one in `keys`. An
 * empty key stands for a missing value too.
 */
export function wantedKeys(by: readonly Dimension[], keys: readonly (readonly string[])[]): SqlFragment {
  const parts = by.flatMap(keyColumns);
  const rows = keys.flatMap((key, position) =>
    withMissing(by.flatMap((dimension, place) => keyTexts(dimension, key[place] ?? ''))).map((values) => [
      sql`${int32(position)}`,
      ...values,
    ]),
  );
  const values = joinSql(
    rows.map((row) => sql`(${joinSql(row, ', ')})`),
    ', ',
  );
  const names = joinSql([trusted('position'), ...parts.map((_, place) => keyName(place))], ', ');
  const hasBlank = keys.some((key) => key.includes(''));
  const equal = trusted(hasBlank ? 'IS NOT DISTINCT FROM' : '=');
  const sameKey = joinSql(
    parts.map((part, place) => sql`${column(part)} ${equal} wanted.${keyName(place)}`),
    ' AND ',
  );
  return sql`(VALUES ${values}) AS wanted(${names}) ON ${sameKey}`;
}

/** The columns that an event's value of the dimension is compared in. */
export function keyColumns(dimension: Dimension): EventColumnName[] {
  return dimension === 'url' ? ['urlHead', 'urlTail'] : [dimension];
}

/** The value as it is in those columns; null: an empty or missing value. */
function keyTexts(dimension: Dimension, value: string): (string | null)[] {
  if (value === '') {
    return keyColumns(dimension).map(() => null);
  }
  return dimension === 'url' ? splitUrl(value) : [value];
}

/** Every way to write the key, each value that is null being empty or missing. */
function withMissing(key: readonly (string | null)[]): SqlFragment[][] {
  return key.reduce<SqlFragment[][]>(
    (ways, value) =>
      ways.flatMap((way) =>
        value === null
          ? [
              [...way, sql`''`],
              [...way, trusted('NULL')],
            ]
          : [[...way, sql`${text(value)}`]],
      ),
    [[]],
  );
}
