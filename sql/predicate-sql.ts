import { lookCost, type SearchedField } from '../query/event-fields.ts';
import type { Selection } from '../query/plan/explore-plan.ts';
import type { FeedZones } from '../query/plan/feed-zones.ts';
import type { Predicate, SearchPlan, TimeWindow } from '../query/plan/search-plan.ts';
import { column } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { int32, int64, joinSql, type SqlFragment, sql, trusted } from './statement.ts';

/** The condition that an event of the plan's zones in `window` matches the plan's predicate. */
export function matchSql(plan: SearchPlan, window: TimeWindow, dialect: Dialect): SqlFragment {
  const inWindow = sql`${column('timestamp')} >= ${int64(window.fromMs)} AND ${column('timestamp')} < ${int64(window.toMs)}`;
  const inZonesAndWindow = plan.zones === 'all' ? inWindow : sql`${inZones(plan.zones, dialect)}\n    AND ${inWindow}`;
  return plan.where.kind === 'everything' ? inZonesAndWindow : sql`${inZonesAndWindow} AND ${predicateSql(plan.where, dialect)}`;
}

/** The condition that an event of the search is in the selection; it may be NULL, which is no. */
export function isSelected(plan: SearchPlan, selection: Selection | null, dialect: Dialect): SqlFragment {
  return selection === null ? trusted('false') : matchSql({ ...plan, zones: 'all', where: selection.where }, selection.window, dialect);
}

/** The condition that an event is of one of these zones. */
export function inZones(zones: Exclude<FeedZones, 'all'>, dialect: Dialect): SqlFragment {
  if ('modulo' in zones) {
    return sql`${dialect.positiveModulo(column('shieldZoneId'), sql`${int32(zones.modulo)}`)} = ${int32(zones.remainder)}`;
  }
  const [only, ...others] = zones;
  if (only === undefined) {
    return trusted('false');
  }
  return others.length === 0 ? sql`${column('shieldZoneId')} = ${int32(only)}` : dialect.isOneOfNumbers(column('shieldZoneId'), zones);
}

/** The predicate as a boolean expression. It may be NULL, which is no match, if the event lacks a column. */
export function predicateSql(predicate: Predicate, dialect: Dialect): SqlFragment {
  switch (predicate.kind) {
    case 'everything':
      return trusted('true');
    case 'all':
      return combine(predicate.of, ' AND ', 'true', dialect);
    case 'any':
      return combine(cheapestFirst(predicate.of), ' OR ', 'false', dialect);
    case 'not':
      return sql`(${predicateSql(predicate.of, dialect)}) IS NOT TRUE`;
    case 'equals':
      return equalsSql(predicate.column, predicate.values, predicate.folded, dialect);
    case 'contains':
      return containsSql(predicate.column, predicate.needle, dialect);
    case 'wildcard':
      return wildcardSql(predicate.column, predicate.parts, dialect);
    case 'addressIn':
      return dialect.addressIn(predicate.ranges);
    default:
      return predicate satisfies never;
  }
}

/** Columns of texts that many events share come first. If one of them decides, the costly ones are not read. */
function cheapestFirst(predicates: readonly Predicate[]): Predicate[] {
  const cost = (predicate: Predicate) => ('column' in predicate ? lookCost(predicate.column) : 0);
  return predicates.toSorted((a, b) => cost(a) - cost(b));
}

function combine(predicates: readonly Predicate[], operator: string, neutral: string, dialect: Dialect): SqlFragment {
  if (predicates.length === 0) {
    return trusted(neutral);
  }
  const parts = predicates.map((predicate) => predicateSql(predicate, dialect));
  return parts.length === 1 ? (parts[0] as SqlFragment) : sql`(${joinSql(parts, operator)})`;
}

/**
 * The end of `urlHead`. Conditions on a url use its two parts if they find the same events that way, because many events share a head, and
 * engines test a shared value once. A text without a `?` that a url contains is in one of the parts.
 */
const HEAD_END = '?';

/** The value of the column is one of the alternatives. */
function equalsSql(name: SearchedField, alternatives: readonly string[], folded: boolean, dialect: Dialect): SqlFragment {
  const [only, ...others] = alternatives;
  if (name === 'url' && only !== undefined && others.length === 0) {
    return urlEquals(only, folded, dialect);
  }
  const value = folded ? dialect.fold(column(name)) : column(name);
  return dialect.isOneOf(value, alternatives, folded);
}

/** The folded column contains the folded needle. */
function containsSql(name: SearchedField, needle: string, dialect: Dialect): SqlFragment {
  const folded = dialect.folded(needle);
  if (name === 'ip') {
    return containsInMixedCase('ip', folded, dialect);
  }
  if (name === 'url' && !needle.includes(HEAD_END)) {
    return sql`(${dialect.contains(dialect.fold(column('urlHead')), folded)} OR ${containsInMixedCase('urlTail', folded, dialect)})`;
  }
  return dialect.contains(dialect.fold(column(name)), folded);
}

/** The same for columns with mostly lower-case values that few events share: it folds only those that need it. */
function containsInMixedCase(name: 'ip' | 'urlTail', folded: SqlFragment, dialect: Dialect): SqlFragment {
  const asItIs = dialect.contains(column(name), folded);
  return sql`(${asItIs} OR (${column('unfolded')} AND ${dialect.contains(dialect.fold(column(name)), folded)}))`;
}

/**
 * The folded column consists of the folded `parts`, the literal runs between the stars, in their order with anything in between. Engines
 * run the functions for common shapes faster than LIKE.
 */
export function wildcardSql(name: SearchedField, parts: readonly string[], dialect: Dialect): SqlFragment {
  const folded = dialect.fold(column(name));
  const [first = '', middle = '', last = ''] = parts;
  if (parts.length === 1) {
    return name === 'url' ? urlEquals(first, true, dialect) : sql`${folded} = ${dialect.folded(first)}`;
  }
  if (parts.every((part) => part === '')) {
    return sql`${column(name)} IS NOT NULL`;
  }
  if (parts.length === 2 && middle === '') {
    return startsWithSql(name, first, dialect);
  }
  if (parts.length === 2 && first === '') {
    return dialect.endsWith(folded, dialect.folded(middle));
  }
  if (parts.length === 3 && first === '' && last === '') {
    return containsSql(name, middle, dialect);
  }
  const whole = dialect.wildcard(folded, parts);
  return name === 'url' ? sql`(${joinSql([...partsInUrl(parts, dialect), whole], ' AND ')})` : whole;
}

function startsWithSql(name: SearchedField, prefix: string, dialect: Dialect): SqlFragment {
  const tested = name === 'url' && !prefix.includes(HEAD_END) ? 'urlHead' : name;
  return dialect.startsWith(dialect.fold(column(tested)), dialect.folded(prefix));
}

/** Parts of a wildcard that are tested in the parts of a url. More make the statement longer, and the longest exclude the most urls. */
const MAX_TESTED_PARTS = 3;

/** Conditions that exclude most urls before the url is concatenated: it contains the longest parts and starts with the first. */
function partsInUrl([first = '', ...others]: readonly string[], dialect: Dialect): SqlFragment[] {
  const isInOnePart = (part: string) => part !== '' && !part.includes(HEAD_END);
  const longest = [...new Set(others.filter(isInOnePart))].toSorted((a, b) => b.length - a.length).slice(0, MAX_TESTED_PARTS);
  return [
    ...(isInOnePart(first) ? [startsWithSql('url', first, dialect)] : []),
    ...longest.map((part) => containsSql('url', part, dialect)),
  ];
}

/** A url as its `urlHead` and `urlTail`. */
export function splitUrl(url: string): [head: string, tail: string] {
  const end = url.indexOf(HEAD_END) + 1 || url.length;
  return [url.slice(0, end), url.slice(end)];
}

function urlEquals(url: string, folded: boolean, dialect: Dialect): SqlFragment {
  const [head, tail] = splitUrl(url);
  const same = (name: 'urlHead' | 'urlTail', part: string) => {
    return dialect.isOneOf(folded ? dialect.fold(column(name)) : column(name), [part], folded);
  };
  return sql`(${same('urlHead', head)} AND ${same('urlTail', tail)})`;
}
