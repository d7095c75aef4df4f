import { inLineOrder, readYaml, WrongYaml, type YamlTree } from '../ingest/mapping/yaml-tree.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../query/durations.ts';
import { DIMENSIONS, GROUP_DIMENSIONS } from '../query/event-fields.ts';
import { wholeNumberIn } from '../query/integer-ranges.ts';
import type { Predicate, ZoneSelection } from '../query/plan/search-plan.ts';
import { compileConditions } from '../query/request/compile-search.ts';
import { InvalidSearchError } from '../query/request/request-errors.ts';
import { type LineSearch, parseSearchLine } from '../query/search-line.ts';
import { ZONE_ID_RANGE, zoneIdIn } from '../query/zone-id.ts';
import { type AlertRule, RULE_SEVERITIES, type RuleKind, SHARE_UNIT, TIMES_UNIT, USUAL_MAX_GROUPS } from './rule.ts';

type KindName = RuleKind['kind'];

const WITH_WINDOWS: readonly KindName[] = ['count', 'distinct', 'ratio', 'more_than_before'];
const WITH_EVENTS: readonly KindName[] = [...WITH_WINDOWS, 'new_value'];
const KINDS: readonly KindName[] = [...WITH_EVENTS, 'silence'];

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
  /** They stand beside each alert and each message. */
  zones: 1_000,
  by: 3,
  labels: 20,
  receivers: 20,
} as const;

/** So many windows before one are compared with it where a rule does not say it. */
const USUAL_BEFORE = 12;

/** Reads the value of a member; undefined: it is wrong, and its faults were added. Without `usual` the member has to be there. */
type ReadMember = <T>(member: keyof typeof MEMBERS, form: Form<T>, usual?: T) => T | undefined;

/** Whether a text is that of a rule. One that is kept may be from an earlier program that allowed more. */
export function isRule(text: string): boolean {
  try {
    readRule(text);
    return true;
  } catch (error) {
    if (error instanceof WrongYaml) return false;
    throw error;
  }
}

/** Reads a rule out of the text of its file, YAML. Throws WrongYaml with a fault for each thing that is wrong. */
export function readRule(text: string): AlertRule {
  const tree = readYaml(text);
  if (tree.kind !== 'map') {
    throw new WrongYaml([`line ${tree.line}: the rule is a ${tree.kind}; allowed: ${MEMBER_NAMES}, each with its value`]);
  }
  const faults: string[] = [];
  const read: ReadMember = (member, form, usual) => {
    const value = tree.members.find(({ key }) => key === member)?.value;
    if (value === undefined && usual === undefined) faults.push(`line 1: ${member} is missing; allowed: ${form.allowed}`);
    if (value === undefined) return usual;
    return form.read(value, (wrong, says) => void faults.push(`line ${wrong.line}: ${member}${says}`));
  };
  const kind = read('kind', oneOf(KINDS));
  const rule = ruleOf(kind ?? 'count', read);
  for (const { key, line } of tree.members) {
    const kinds = Object.hasOwn(MEMBERS, key) ? MEMBERS[key as keyof typeof MEMBERS] : null;
    if (kinds === null) {
      faults.push(`line ${line}: ${JSON.stringify(key)} is not a member of a rule; allowed: ${MEMBER_NAMES}`);
    } else if (kind !== undefined && !(kinds as readonly KindName[]).includes(kind)) {
      faults.push(`line ${line}: ${key} does not go with kind ${kind}; allowed: with kind ${kinds.join(', ')}`);
    }
  }
  if (faults.length > 0) throw new WrongYaml(inLineOrder(faults));
  // What is missing or wrong is a fault.
  return rule as AlertRule;
}

/** A rule whose members are undefined where they have faults. */
function ruleOf(kindName: KindName, read: ReadMember) {
  const { window, quiet, late, hold, maxGroups, maxAge, receivers } = RULE_LIMITS;
  const kind = kindOf(kindName, read);
  const by = read('by', several(oneOf(GROUP_DIMENSIONS), RULE_LIMITS.by), []);
  return {
    name: read('name', NAME),
    zones: read('zones', ZONES),
    ...read('search', SEARCH, EVERYTHING),
    by: kind.kind === 'silence' ? ['shieldZoneId'] : kind.kind === 'new_value' ? ['shieldZoneId', kind.field] : by,
    kind,
    // What is found in a minute is a hit of that minute.
    windowMs: read('window', time(window), WITH_WINDOWS.includes(kindName) ? undefined : MINUTE_MS),
    quietMs: read('quiet', time(quiet), 30 * MINUTE_MS),
    hold: read('hold', wholeNumber(hold), 1),
    lateMs: read('late', time(late), DAY_MS),
    maxGroups: read('max_groups', wholeNumber(maxGroups), USUAL_MAX_GROUPS),
    maxAgeMs: read('max_age', time(maxAge), HOUR_MS),
    severity: read('severity', oneOf(RULE_SEVERITIES), 'medium'),
    labels: read('labels', LABELS, {}),
    receivers: read('receivers', several(NAME, receivers), []),
  };
}

/** What a kind has beside its name stands in the order of `RuleKind`. */
function kindOf(kind: KindName, read: ReadMember) {
  const { distinctValues, before, newFor, silentFor } = RULE_LIMITS;
  const atLeast = (range: Range = RULE_LIMITS.atLeast) => read('at_least', wholeNumber(range));
  switch (kind) {
    case 'count':
      return { kind, atLeast: atLeast() };
    case 'distinct':
      return { kind, field: read('field', oneOf(GROUP_DIMENSIONS)), atLeast: atLeast(distinctValues) };
    case 'ratio':
      return { kind, part: read('part', SEARCH)?.where, share: read('share', SHARE), atLeast: atLeast() };
    case 'more_than_before': {
      const windows = read('before', wholeNumber(before), USUAL_BEFORE);
      return { kind, atLeast: atLeast(), times: read('times', TIMES), before: windows };
    }
    case 'new_value':
      return { kind, field: read('field', oneOf(DIMENSIONS)), forMs: read('for', time(newFor), 3 * DAY_MS) };
    case 'silence':
      return { kind, forMs: read('for', time(silentFor)) };
    default:
      return kind satisfies never;
  }
}

/** How the value of a member is written. */
interface Form<T> {
  /** For people. */
  readonly allowed: string;
  /** Undefined where it is not allowed, which `refuse` is told: the part that is wrong, and what stands behind the name of the member. */
  readonly read: (value: YamlTree, refuse: (wrong: YamlTree, says: string) => undefined) => T | undefined;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

function isNot(value: YamlTree, allowed: string): string {
  const shown = value.kind === 'text' ? JSON.stringify(value.isNull ? null : value.text) : `a ${value.kind}`;
  return ` is ${shown}; allowed: ${allowed}`;
}

function textForm<T>(allowed: string, read: (text: string) => T | null | undefined): Form<T> {
  return {
    allowed,
    read: (value, refuse) => {
      const found = value.kind === 'text' && !value.isNull ? read(value.text) : null;
      return found ?? refuse(value, isNot(value, allowed));
    },
  };
}

function oneOf<T extends string>(words: readonly T[]): Form<T> {
  return textForm(words.join(', '), (text) => words.find((word) => word === text));
}

function wholeNumber({ min, max }: Range): Form<number> {
  return textForm(`a whole number ${min}..${max}`, (text) => {
    const number = wholeNumberIn(text, min, max);
    return number === null ? null : Number(number);
  });
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Milliseconds of `90s`, `5m`, `1h` or `2d`. */
function time({ min, max }: Range): Form<number> {
  return textForm(`a time from ${shownTime(min)} to ${shownTime(max)}, such as 90s, 5m, 1h or 2d`, (text) => {
    const [, digits, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
    const ms = Number(digits) * (UNITS[unit] ?? 0);
    return ms >= min && ms <= max ? ms : null;
  });
}

function shownTime(ms: number): string {
  const unit = Object.entries(UNITS).findLast(([, size]) => ms >= size && ms % size === 0);
  return unit === undefined ? '0s' : `${ms / unit[1]}${unit[0]}`;
}

/** Hundredths of a number with two decimals at most; null for another text, or one that is out of the bounds. */
function hundredthsIn(text: string, { min, max }: Range): number | null {
  const [, whole = '', decimals = ''] = /^(\d{1,7})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  const hundredths = Number(whole + decimals.padEnd(2, '0'));
  return whole !== '' && hundredths >= min && hundredths <= max ? hundredths : null;
}

const SHARE = textForm('a percentage from 0.01% to 100%, with two decimals at most', (text) => {
  return text.endsWith('%') ? hundredthsIn(text.slice(0, -1), RULE_LIMITS.share) : null;
});

const TIMES = textForm(
  `a number from ${RULE_LIMITS.times.min / TIMES_UNIT} to ${RULE_LIMITS.times.max / TIMES_UNIT}, with two decimals at most`,
  (text) => hundredthsIn(text, RULE_LIMITS.times),
);

const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME = textForm('1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first', (text) => {
  return NAME_PATTERN.test(text) ? text : null;
});

/** A value or a list of them, each once. */
function several<T>(form: Form<T>, most: number): Form<readonly T[]> {
  return {
    allowed: form.allowed,
    read: (value, refuse) => {
      const items = value.kind === 'list' ? value.items : [value];
      const found = items.flatMap((item) => form.read(item, refuse) ?? []);
      if (items.length <= most && new Set(found).size === found.length) return found;
      return refuse(value, ` has ${items.length} values; allowed: at most ${most}, each once`);
    },
  };
}

const ZONE = textForm(`all, or zone ids ${ZONE_ID_RANGE}`, zoneIdIn);
const ZONES: Form<ZoneSelection> = {
  allowed: ZONE.allowed,
  read: (value, refuse) => {
    if (value.kind === 'text' && value.text === 'all') return 'all';
    if (value.kind === 'list' && value.items.length === 0) return refuse(value, isNot(value, ZONE.allowed));
    const zones = several(ZONE, RULE_LIMITS.zones).read(value, refuse);
    return zones?.toSorted((one, other) => one - other);
  },
};

const LABELS: Form<Readonly<Record<string, string>>> = {
  allowed: `at most ${RULE_LIMITS.labels} texts, each under a name of ${NAME.allowed}`,
  read: (value, refuse) => {
    const members = value.kind === 'map' && value.members.length <= RULE_LIMITS.labels ? value.members : null;
    const texts = members?.flatMap(({ key, value: text }) =>
      text.kind === 'text' && NAME_PATTERN.test(key) ? [[key, text.text] as const] : [],
    );
    if (texts === undefined || texts.length !== members?.length) return refuse(value, isNot(value, LABELS.allowed));
    return Object.fromEntries(texts);
  },
};

const EVERYTHING = { search: { query: '', filters: [], exclude: [] }, where: { kind: 'everything' } } as const;

/** The conditions of a search line, or of the members `query`, `filters` and `exclude` of a search. */
const SEARCH: Form<{ readonly search: LineSearch; readonly where: Predicate }> = {
  allowed: 'a search, as in search',
  read: (value, refuse) => {
    const line = value.kind === 'text' ? parseSearchLine(value.text) : null;
    if (line !== null && 'fault' in line) return refuse(value, `, character ${line.position + 1}: ${line.fault}`);
    const given = line === null ? jsonOf(value) : { query: line.query, filters: line.filters, exclude: line.exclude };
    try {
      const where = compileConditions(Buffer.from(JSON.stringify(given)));
      const { query, filters, exclude } = given as Partial<LineSearch>;
      return { search: { query: query ?? '', filters: filters ?? [], exclude: exclude ?? [] }, where };
    } catch (error) {
      if (!(error instanceof InvalidSearchError)) throw error;
      for (const { field, message } of error.errors) refuse(value, ` ${field} ${message}`);
      return undefined;
    }
  },
};

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
