import { lookCost, type SearchedField } from '../query/event-fields.ts';
import { compileMatcher, foldText, type Matcher, type MatchSubject } from '../query/match/match-event.ts';
import type { Predicate, ZoneSelection } from '../query/plan/search-plan.ts';
import { anyOf, wantedKey, wholeValues, zonesTogether } from '../query/plan/wanted-events.ts';
import type { AlertRule } from './rule.ts';

/** A condition, and the rules that have it by their index. */
interface Condition {
  readonly matches: Matcher;
  readonly rules: number[];
}

type WholeValues = Extract<Predicate, { kind: 'equals' }>;

/** Conditions by the values that an event has to have in a column for one of them to match. */
interface ColumnConditions {
  readonly column: SearchedField;
  readonly folded: boolean;
  readonly ofValue: Map<string, Condition[]>;
}

/** Says which rules an event is for. Rules are looked up by zone and by whole values, and equal conditions are tried once an event. */
export class RuleSet {
  /** What the feed is read for: maybe more than the rules match together. */
  readonly wanted: { readonly zones: ZoneSelection; readonly where: Predicate };
  readonly #exceptZone: number | undefined;
  readonly #ofAllZones = new Conditions();
  readonly #ofZone = new Map<number, Conditions>();

  /** The zone `exceptZone` is no part of all zones. Rules of the kind `silence` match nothing. */
  constructor(rules: readonly AlertRule[], { exceptZone }: { readonly exceptZone?: number | undefined } = {}) {
    this.#exceptZone = exceptZone;
    const counting = rules.filter(({ kind }) => kind.kind !== 'silence');
    // A thousand rules of a zone each may have one condition.
    const conditions = counting.map(({ where }) => wholeValues(where));
    const distinct = new Map(conditions.map((where) => [wantedKey({ zones: 'all', where }), where]));
    this.wanted = { zones: zonesTogether(counting), where: anyOf([...distinct.values()]) };
    for (const [index, { kind, zones, where }] of rules.entries()) {
      if (kind.kind === 'silence') continue;
      for (const conditions of zones === 'all' ? [this.#ofAllZones] : zones.map((zone) => this.#conditionsOf(zone))) {
        conditions.add(where, index);
      }
    }
  }

  /** The indexes of the rules that match an event, ascending. */
  matching(zoneId: number, event: MatchSubject): readonly number[] {
    const found: number[] = [];
    if (zoneId !== this.#exceptZone) this.#ofAllZones.match(event, found);
    this.#ofZone.get(zoneId)?.match(event, found);
    return found.length > 1 ? found.sort((one, other) => one - other) : found;
  }

  #conditionsOf(zone: number): Conditions {
    const conditions = this.#ofZone.get(zone) ?? new Conditions();
    this.#ofZone.set(zone, conditions);
    return conditions;
  }
}

/** The different conditions of some rules. */
class Conditions {
  readonly #byKey = new Map<string, Condition>();
  readonly #columns: ColumnConditions[] = [];
  /** Those that need no whole value. */
  readonly #others: Condition[] = [];

  add(where: Predicate, rule: number): void {
    const key = wantedKey({ zones: 'all', where });
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      known.rules.push(rule);
      return;
    }
    const condition = { matches: compileMatcher(where).matches, rules: [rule] };
    this.#byKey.set(key, condition);
    const needed = neededValues(where);
    if (needed === undefined) {
      this.#others.push(condition);
      return;
    }
    const { column, folded, values } = needed;
    const { ofValue } = this.#column(column, folded);
    for (const value of new Set(folded ? values.map(foldText) : values)) ofValue.set(value, [...(ofValue.get(value) ?? []), condition]);
  }

  match(event: MatchSubject, found: number[]): void {
    for (const { column, folded, ofValue } of this.#columns) {
      const text = folded ? event.folded(column) : event.text(column);
      const conditions = text === undefined ? undefined : ofValue.get(text);
      if (conditions !== undefined) tryAll(conditions, event, found);
    }
    tryAll(this.#others, event, found);
  }

  #column(column: SearchedField, folded: boolean): ColumnConditions {
    let conditions = this.#columns.find((one) => one.column === column && one.folded === folded);
    if (conditions === undefined) {
      conditions = { column, folded, ofValue: new Map() };
      this.#columns.push(conditions);
    }
    return conditions;
  }
}

function tryAll(conditions: readonly Condition[], event: MatchSubject, found: number[]): void {
  for (const { matches, rules } of conditions) {
    if (matches(event)) found.push(...rules);
  }
}

/** Values of which an event has to have one to match; of several columns those of the one with the values that the fewest events share. */
function neededValues(where: Predicate): WholeValues | undefined {
  if (where.kind === 'equals') return where;
  if (where.kind !== 'all') return undefined;
  const needed = where.of.flatMap((part) => neededValues(part) ?? []);
  return needed.toSorted((one, other) => sharing(one) - sharing(other) || one.values.length - other.values.length)[0];
}

/** Rank of how many events share a value of the column. Fields without case have few values. */
function sharing({ column, folded }: WholeValues): number {
  return folded ? 1 : -lookCost(column);
}
