import type { TextColumn } from '../query/dimensions.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { joinSql, type SqlFragment, sql, text } from './fragment.ts';

/**
 * Conditions on texts. A url is looked at in its two parts wherever that finds the same: the one before the query string is a value that
 * many events share, which engines look at once. The parts meet behind a `?`, so what has none in it lies in one of them.
 */

const MARK = '?';

/** The column's value is one of the alternatives. */
export function equalsSql(name: TextColumn, alternatives: readonly string[], folded: boolean, dialect: Dialect): SqlFragment {
  const side = (fragment: SqlFragment) => (folded ? dialect.fold(fragment) : fragment);
  const [only, ...others] = alternatives;
  if (name === 'url' && only !== undefined && others.length === 0) {
    return urlEquals(only, side);
  }
  const bound = alternatives.map((alternative) => side(sql`${text(alternative)}`));
  const value = side(column(name));
  return bound.length === 1 ? sql`${value} = ${bound[0] as SqlFragment}` : sql`${value} IN (${joinSql(bound, ', ')})`;
}

/** The folded column has the folded needle somewhere. */
export function containsSql(name: TextColumn, needle: string, dialect: Dialect): SqlFragment {
  const folded = dialect.fold(sql`${text(needle)}`);
  if (name === 'ip') {
    return containsInMixedCase('ip', folded, dialect);
  }
  if (name === 'url' && !needle.includes(MARK)) {
    return sql`(${dialect.contains(dialect.fold(column('urlHead')), folded)} OR ${containsInMixedCase('urlTail', folded, dialect)})`;
  }
  return dialect.contains(dialect.fold(column(name)), folded);
}

/** The same for the columns that are hardly ever shared and mostly in lower case. */
function containsInMixedCase(name: 'ip' | 'urlTail', folded: SqlFragment, dialect: Dialect): SqlFragment {
  const asItIs = dialect.contains(column(name), folded);
  return sql`(${asItIs} OR (${column('unfolded')} AND ${dialect.contains(dialect.fold(column(name)), folded)}))`;
}

/**
 * The folded column is made of the folded parts, in their order, with anything in between. The common shapes have functions of their own,
 * which engines run faster than LIKE. `parts` are the literal runs between the stars.
 */
export function wildcardSql(name: TextColumn, parts: readonly string[], dialect: Dialect): SqlFragment {
  const folded = dialect.fold(column(name));
  const needle = (part: string) => dialect.fold(sql`${text(part)}`);
  const [first = '', middle = '', last = ''] = parts;
  if (parts.length === 1) {
    return name === 'url' ? urlEquals(first, dialect.fold) : sql`${folded} = ${needle(first)}`;
  }
  if (parts.every((part) => part === '')) {
    return sql`${column(name)} IS NOT NULL`;
  }
  if (parts.length === 2 && middle === '') {
    return startsWithSql(name, first, dialect);
  }
  if (parts.length === 2 && first === '') {
    return dialect.endsWith(folded, needle(middle));
  }
  if (parts.length === 3 && first === '' && last === '') {
    return containsSql(name, middle, dialect);
  }
  const whole = dialect.wildcard(folded, parts);
  return name === 'url' ? sql`(${joinSql([...partsInUrl(parts, dialect), whole], ' AND ')})` : whole;
}

function startsWithSql(name: TextColumn, prefix: string, dialect: Dialect): SqlFragment {
  const looked = name === 'url' && !prefix.includes(MARK) ? 'urlHead' : name;
  return dialect.startsWith(dialect.fold(column(looked)), dialect.fold(sql`${text(prefix)}`));
}

/** Each part looked for makes the statement longer; the longest parts rule out the most urls. */
const MAX_PARTS_LOOKED_FOR = 3;

/** What has to hold before it is worth putting the url together: the longest parts are somewhere, the first part is at the beginning. */
function partsInUrl([first = '', ...others]: readonly string[], dialect: Dialect): SqlFragment[] {
  const isInOnePart = (part: string) => part !== '' && !part.includes(MARK);
  const longest = [...new Set(others.filter(isInOnePart))].toSorted((a, b) => b.length - a.length).slice(0, MAX_PARTS_LOOKED_FOR);
  return [
    ...(isInOnePart(first) ? [startsWithSql('url', first, dialect)] : []),
    ...longest.map((part) => containsSql('url', part, dialect)),
  ];
}

/** A url as `urlHead` and `urlTail` have it. */
export function splitUrl(url: string): [head: string, tail: string] {
  const end = url.indexOf(MARK) + 1 || url.length;
  return [url.slice(0, end), url.slice(end)];
}

function urlEquals(url: string, side: (fragment: SqlFragment) => SqlFragment): SqlFragment {
  const [head, tail] = splitUrl(url);
  const same = (name: 'urlHead' | 'urlTail', part: string) => sql`${side(column(name))} = ${side(sql`${text(part)}`)}`;
  return sql`(${same('urlHead', head)} AND ${same('urlTail', tail)})`;
}
