import { readYaml, WrongMapping, type YamlMember, type YamlTree } from '../ingest/mapping/yaml-tree.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../query/durations.ts';
import { DIMENSIONS, GROUP_DIMENSIONS, type GroupDimension } from '../query/event-fields.ts';
import { wholeNumberIn } from '../query/integer-ranges.ts';
import type { Predicate, ZoneSelection } from '../query/plan/search-plan.ts';
import { compileConditions } from '../query/request/compile-search.ts';
import { InvalidSearchError } from '../query/request/request-errors.ts';
import { type LineSearch, parseSearchLine } from '../query/search-line.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../query/zone-id.ts';
import { type AlertRule, RULE_SEVERITIES, type RuleKind, SHARE_UNIT, TIMES_UNIT, USUAL_MAX_GROUPS } from './rule.ts';

/** The file of a rule is wrong. Each fault names its line, the member, the value and what is allowed. */
export class WrongRule extends Error {
  override readonly name = 'WrongRule';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], options: ErrorOptions = {}) {
    super(faults.join('\n'), options);
    this.faults = faults;
  }
}

type KindName = RuleKind['kind'];

const KINDS: readonly KindName[] = ['count', 'distinct', 'ratio', 'more_than_before', 'new_value', 'silence'];

const WITH_WINDOWS: readonly KindName[] = ['count', 'distinct', 'ratio', 'more_than_before'];
const WITH_EVENTS: readonly KindName[] = [...WITH_WINDOWS, 'new_value'];

/** The members of a rule, and the kinds that they go with. */
const MEMBERS = {
  name: KINDS,
  zones: KINDS,
  search: WITH_EVENTS,
  by: WITH_WINDOWS,
  kind: KINDS,
  field: ['distinct', 'new_value'],
  part: ['ratio'],
  share: ['ratio'],
  at_least: WITH_WINDOWS,
  times: ['more_than_before'],
  before: ['more_than_before'],
  for: ['new_value', 'silence'],
  window: WITH_WINDOWS,
  quiet: KINDS,
  hold: WITH_WINDOWS,
  late: WITH_WINDOWS,
  max_groups: WITH_EVENTS,
  max_age: KINDS,
  severity: KINDS,
  labels: KINDS,
  receivers: KINDS,
} as const satisfies Readonly<Record<string, readonly KindName[]>>;

type Member = keyof typeof MEMBERS;

const MEMBER_NAMES = Object.keys(MEMBERS).join(', ');

/** What the numbers of a rule may be, both ends included. Times are milliseconds. */
export const RULE_LIMITS = {
  window: { min: MINUTE_MS, max: DAY_MS },
  quiet: { min: MINUTE_MS, max: 3 * DAY_MS },
  late: { min: 0, max: 3 * DAY_MS },
  maxAge: { min: MINUTE_MS, max: 3 * DAY_MS },
  atLeast: { min: 1, max: 1_000_000_000 },
  /** All values of a window are held until there are so many. */
  distinctValues: { min: 1, max: 10_000 },
  /** How many windows before one are compared with it. */
  before: { min: 1, max: 100 },
  /** In hundredths. */
  times: { min: TIMES_UNIT, max: 1_000 * TIMES_UNIT },
  /** In hundredths of a percent. */
  share: { min: 1, max: SHARE_UNIT },
  /** For how long a value has not come, and a zone had no event. */
  newFor: { min: HOUR_MS, max: 365 * DAY_MS },
  silentFor: { min: 5 * MINUTE_MS, max: DAY_MS - HOUR_MS },
  hold: { min: 1, max: 1_000 },
  maxGroups: { min: 2, max: 500_000 },
  by: 3,
  labels: 20,
  receivers: 20,
} as const;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME_FORM = '1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first';

/** Reads a rule out of the text of its file, YAML. Throws WrongRule with a fault for each thing that is wrong. */
export function readRule(text: string): AlertRule {
  const tree = yamlOf(text);
  if (tree.kind !== 'map') {
    throw new WrongRule([`line ${tree.line}: the rule is a ${tree.kind}; allowed: ${MEMBER_NAMES}, each with its value`]);
  }
  const reader = new RuleReader(tree.members);
  const rule = reader.rule();
  if (reader.faults.length > 0) throw new WrongRule(reader.faults.toSorted((one, other) => lineIn(one) - lineIn(other)));
  return rule;
}

function yamlOf(text: string): YamlTree {
  try {
    return readYaml(text);
  } catch (error) {
    if (!(error instanceof WrongMapping)) throw error;
    throw new WrongRule(error.faults, { cause: error });
  }
}

/** The line that a fault begins with. */
function lineIn(fault: string): number {
  return Number(/^line (\d+)/.exec(fault)?.[1]);
}

type Text = Extract<YamlTree, { kind: 'text' }>;

/** Reads the members of a rule, and gathers what is wrong with them. */
class RuleReader {
  readonly faults: string[] = [];
  readonly #members: ReadonlyMap<string, YamlMember>;

  constructor(members: readonly YamlMember[]) {
    this.#members = new Map(members.map((member) => [member.key, member]));
    for (const { key, line } of members) {
      if (!Object.hasOwn(MEMBERS, key)) {
        this.faults.push(`line ${line}: ${JSON.stringify(key)} is not a member of a rule; allowed: ${MEMBER_NAMES}`);
      }
    }
  }

  rule(): AlertRule {
    const { window, quiet, late, hold, maxGroups, maxAge, labels, receivers } = RULE_LIMITS;
    const name = this.#required('name', NAME_FORM, (text) => (NAME.test(text) ? text : null)) ?? '';
    const kindName = this.#required('kind', KINDS.join(', '), (text) => oneOf(text, KINDS));
    if (kindName !== null) this.#refuseMembersOfOthers(kindName);
    const kind = this.#kind(kindName ?? 'count');
    const hasWindows = WITH_WINDOWS.includes(kind.kind);
    return {
      name,
      zones: this.#zones(),
      ...this.#conditions('search'),
      by: this.#by(kind),
      kind,
      // What is found in a minute is a hit of that minute.
      windowMs: hasWindows ? this.#time('window', null, window) : MINUTE_MS,
      quietMs: this.#time('quiet', 30 * MINUTE_MS, quiet),
      hold: this.#number('hold', 1, hold),
      lateMs: this.#time('late', DAY_MS, late),
      maxGroups: this.#number('max_groups', USUAL_MAX_GROUPS, maxGroups),
      maxAgeMs: this.#time('max_age', HOUR_MS, maxAge),
      severity: this.#text('severity', RULE_SEVERITIES.join(', '), (text) => oneOf(text, RULE_SEVERITIES)) ?? 'medium',
      labels: this.#labels(labels),
      receivers: this.#texts('receivers', receivers, NAME_FORM, (text) => (NAME.test(text) ? text : null)),
    };
  }

  #refuseMembersOfOthers(kind: KindName): void {
    for (const [key, kinds] of Object.entries<readonly KindName[]>(MEMBERS)) {
      const member = this.#members.get(key);
      if (member === undefined || kinds.includes(kind)) continue;
      this.faults.push(`line ${member.line}: ${key} does not go with kind ${kind}; allowed: with kind ${kinds.join(', ')}`);
    }
  }

  #refuse(value: YamlTree, member: Member, allowed: string): null {
    const shown = value.kind === 'text' ? JSON.stringify(value.isNull ? null : value.text) : `a ${value.kind}`;
    this.faults.push(`line ${value.line}: ${member} is ${shown}; allowed: ${allowed}`);
    return null;
  }

  /** The value of a member; null where it is absent, or is told to be wrong. */
  #text<T>(member: Member, allowed: string, read: (text: string) => T | null): T | null {
    const value = this.#members.get(member)?.value;
    return value === undefined ? null : this.#read(value, member, allowed, read);
  }

  #read<T>(value: YamlTree, member: Member, allowed: string, read: (text: string) => T | null): T | null {
    const text = value.kind === 'text' && !value.isNull ? read(value.text) : null;
    return text ?? this.#refuse(value, member, allowed);
  }

  #required<T>(member: Member, allowed: string, read: (text: string) => T | null): T | null {
    if (!this.#members.has(member)) this.faults.push(`line 1: ${member} is missing; allowed: ${allowed}`);
    return this.#text(member, allowed, read);
  }

  /** A text or a list of them, each once. */
  #texts<T>(member: Member, most: number, allowed: string, read: (text: string) => T | null): readonly T[] {
    const value = this.#members.get(member)?.value;
    const items = value === undefined ? [] : value.kind === 'list' ? value.items : [value];
    const found = items.flatMap((item) => this.#read(item, member, allowed, read) ?? []);
    if (value !== undefined && (items.length > most || new Set(found).size < found.length)) {
      this.faults.push(`line ${value.line}: ${member} has ${items.length} values; allowed: at most ${most}, each once`);
    }
    return found;
  }

  #number(member: Member, usual: number | null, { min, max }: { readonly min: number; readonly max: number }): number {
    const read = (text: string) => {
      const number = wholeNumberIn(text, min, max);
      return number === null ? null : Number(number);
    };
    const allowed = `a whole number ${min}..${max}`;
    return (usual === null ? this.#required(member, allowed, read) : this.#text(member, allowed, read)) ?? usual ?? max;
  }

  #time(member: Member, usual: number | null, { min, max }: { readonly min: number; readonly max: number }): number {
    const read = (text: string) => {
      const ms = durationIn(text);
      return ms !== null && ms >= min && ms <= max ? ms : null;
    };
    const allowed = `a time from ${shownTime(min)} to ${shownTime(max)}, such as 90s, 5m, 1h or 2d`;
    return (usual === null ? this.#required(member, allowed, read) : this.#text(member, allowed, read)) ?? usual ?? max;
  }

  #zones(): ZoneSelection {
    const allowed = `all, or zone ids ${ZONE_ID_RANGE}`;
    const value = this.#members.get('zones')?.value;
    if (value === undefined) this.faults.push(`line 1: zones is missing; allowed: ${allowed}`);
    if (value?.kind === 'text' && value.text === 'all') return 'all';
    const zones = this.#texts('zones', Number.POSITIVE_INFINITY, allowed, zoneIdIn);
    if (value?.kind === 'list' && value.items.length === 0) this.#refuse(value, 'zones', allowed);
    return zones.toSorted((one, other) => one - other);
  }

  #by(kind: RuleKind): readonly GroupDimension[] {
    if (kind.kind === 'silence') return ['shieldZoneId'];
    if (kind.kind === 'new_value') return ['shieldZoneId', kind.field];
    return this.#texts('by', RULE_LIMITS.by, GROUP_DIMENSIONS.join(', '), (text) => oneOf(text, GROUP_DIMENSIONS));
  }

  #kind(kind: KindName): RuleKind {
    const { atLeast, distinctValues, share, times, before, newFor, silentFor } = RULE_LIMITS;
    switch (kind) {
      case 'count':
        return { kind, atLeast: this.#number('at_least', null, atLeast) };
      case 'distinct':
        return { kind, field: this.#field(GROUP_DIMENSIONS), atLeast: this.#number('at_least', null, distinctValues) };
      case 'ratio': {
        if (!this.#members.has('part')) this.faults.push('line 1: part is missing; allowed: a search, as in search');
        const read = (text: string) => (text.endsWith('%') ? hundredthsIn(text.slice(0, -1), share) : null);
        const found = this.#required('share', 'a percentage from 0.01% to 100%, with two decimals at most', read) ?? share.max;
        return { kind, part: this.#conditions('part').where, share: found, atLeast: this.#number('at_least', null, atLeast) };
      }
      case 'more_than_before': {
        const allowed = `a number from ${times.min / TIMES_UNIT} to ${times.max / TIMES_UNIT}, with two decimals at most`;
        const found = this.#required('times', allowed, (text) => hundredthsIn(text, times)) ?? times.max;
        const windows = this.#number('before', USUAL_BEFORE, before);
        return { kind, atLeast: this.#number('at_least', null, atLeast), times: found, before: windows };
      }
      case 'new_value':
        return { kind, field: this.#field(DIMENSIONS), forMs: this.#time('for', 3 * DAY_MS, newFor) };
      case 'silence':
        return { kind, forMs: this.#time('for', null, silentFor) };
      default:
        return kind satisfies never;
    }
  }

  #field<Field extends GroupDimension>(fields: readonly Field[]): Field {
    return this.#required('field', fields.join(', '), (text) => oneOf(text, fields)) ?? (fields[0] as Field);
  }

  #labels(most: number): Readonly<Record<string, string>> {
    const value = this.#members.get('labels')?.value;
    if (value === undefined) return {};
    const members = value.kind === 'map' && value.members.length <= most ? value.members : null;
    const texts = members?.flatMap(({ key, value: text }) => (text.kind === 'text' && NAME.test(key) ? [[key, text.text] as const] : []));
    if (texts === undefined || texts.length !== members?.length) {
      this.#refuse(value, 'labels', `at most ${most} texts, each under a name of ${NAME_FORM}`);
    }
    return Object.fromEntries(texts ?? []);
  }

  /** The conditions of a search line, or of the members `query`, `filters` and `exclude` of a search. */
  #conditions(member: 'search' | 'part'): { readonly search: LineSearch; readonly where: Predicate } {
    const value = this.#members.get(member)?.value;
    if (value === undefined) return EVERYTHING;
    const given = value.kind === 'text' ? this.#searchOfLine(member, value) : jsonOf(value);
    try {
      const where = compileConditions(Buffer.from(JSON.stringify(given)));
      const { query, filters, exclude } = given as Partial<LineSearch>;
      return { search: { query: query ?? '', filters: filters ?? [], exclude: exclude ?? [] }, where };
    } catch (error) {
      if (!(error instanceof InvalidSearchError)) throw error;
      for (const { field, message } of error.errors) this.faults.push(`line ${value.line}: ${member} ${field} ${message}`);
      return EVERYTHING;
    }
  }

  #searchOfLine(member: Member, { text, line }: Text): object {
    const search = parseSearchLine(text);
    if ('fault' in search) {
      this.faults.push(`line ${line}: ${member}, character ${search.position + 1}: ${search.fault}`);
      return {};
    }
    const { query, filters, exclude } = search;
    return { query, filters, exclude };
  }
}

const EVERYTHING = { search: { query: '', filters: [], exclude: [] }, where: { kind: 'everything' } } as const;

/** So many windows before one are compared with it where a rule does not say it. */
const USUAL_BEFORE = 12;

/** Hundredths of a number with two decimals at most; null for another text, or one that is out of the bounds. */
function hundredthsIn(text: string, { min, max }: { readonly min: number; readonly max: number }): number | null {
  const [, whole = '', decimals = ''] = /^(\d{1,7})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  const hundredths = Number(whole + decimals.padEnd(2, '0'));
  return whole !== '' && hundredths >= min && hundredths <= max ? hundredths : null;
}

function oneOf<T extends string>(text: string, words: readonly T[]): T | null {
  return words.find((word) => word === text) ?? null;
}

/** What a search in YAML is in JSON, where every value is a text. */
function jsonOf(value: YamlTree): unknown {
  switch (value.kind) {
    case 'text':
      return value.isNull ? null : value.text;
    case 'list':
      return value.items.map(jsonOf);
    case 'map':
      return Object.fromEntries(value.members.map(({ key, value: member }) => [key, jsonOf(member)]));
  }
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Milliseconds of `90s`, `5m`, `1h` or `2d`; null for another text. */
function durationIn(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return unit === '' ? null : Number(digits) * (UNITS[unit] ?? 0);
}

function shownTime(ms: number): string {
  const unit = Object.entries(UNITS).findLast(([, size]) => ms >= size && ms % size === 0);
  return unit === undefined ? '0s' : `${ms / unit[1]}${unit[0]}`;
}
