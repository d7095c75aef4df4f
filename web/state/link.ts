import { DIMENSIONS, GROUP_DIMENSIONS, type GroupDimension } from '../../query/event-fields.ts';
import { FILTER_OP_NAMES } from '../../query/filter-ops.ts';
import { type LineClause, type LineSearch, parseSearchLine, searchLineOf } from '../../query/search-line.ts';
import { STORED_TEXT_BYTES } from '../../query/text-bytes.ts';
import { zoneIdIn } from '../../query/zone-id.ts';
import { searchOfLine } from './conditions.ts';
import { type Comparison, DEFAULT_STATE, type EventKey, type ExplorerState, NO_SEARCH, type Zones, zonesText } from './explorer-state.ts';
import { readColumns } from './offered-columns.ts';
import { minutesText, readLinkTime, readMinutes, type TimeRange } from './time-range.ts';

/** A state read from a link. */
export interface FromLink {
  readonly state: ExplorerState;
  /** The parameters that say nothing, or something that one before them has said, as `name=value`. */
  readonly ignored: readonly string[];
}

/** The parameters of a state, without what is as it always is. */
export function linkOf(state: ExplorerState): URLSearchParams {
  const parameters = new URLSearchParams();
  const { zones, range, search, by, groupBy, columns, comparison, event, isLive, isRefreshing, clock } = state;
  if (zones !== 'all') parameters.set('zone', zonesText(zones));
  setRange(range, parameters);
  setSearch(search, parameters);
  if (by !== DEFAULT_STATE.by) parameters.set('by', by ?? NONE);
  if (groupBy.length > 0) parameters.set('group', groupBy.join(','));
  if (columns !== null) parameters.set('columns', columns.join(','));
  if (comparison?.kind === 'line') parameters.set('compare-with', comparison.line);
  else if (comparison !== null) parameters.set('compare', comparisonText(comparison));
  if (event !== null) parameters.set('event', `${event.zone}/${event.timestamp}/${event.logId}`);
  if (isLive) parameters.set('live', 'on');
  if (isRefreshing) parameters.set('refresh', 'on');
  if (clock !== DEFAULT_STATE.clock) parameters.set('clock', clock);
  return parameters;
}

const NONE = 'none';

function setRange(range: TimeRange, parameters: URLSearchParams): void {
  if (range.kind === 'between') {
    parameters.set('from', new Date(range.from).toISOString());
    parameters.set('to', new Date(range.to).toISOString());
  } else if (DEFAULT_STATE.range.kind !== 'last' || range.minutes !== DEFAULT_STATE.range.minutes) {
    parameters.set('last', minutesText(range.minutes));
  }
}

/** As a search line; a search that no line says, as JSON. */
function setSearch(search: LineSearch, parameters: URLSearchParams): void {
  const line = searchLineOf(search);
  if (line === null) parameters.set('search', JSON.stringify(search));
  else if (line !== '') parameters.set('q', line);
}

const BEFORE = 'before';

function comparisonText(comparison: Exclude<Comparison, { readonly kind: 'line' }>): string {
  if (comparison.kind === 'before') return BEFORE;
  if (comparison.kind === 'value') return `${comparison.field}:${comparison.value}`;
  return [comparison.from, comparison.to].map((time) => new Date(time).toISOString()).join('/');
}

type Part = Partial<ExplorerState>;

/** What each parameter says; null where it says nothing. */
const READERS: Readonly<Record<string, (text: string, parameters: URLSearchParams) => Part | null>> = {
  zone: (text) => part('zones', readZones(text)),
  last: (text) => {
    const minutes = readMinutes(text);
    return minutes === null ? null : { range: { kind: 'last', minutes } };
  },
  from: (_text, parameters) => part('range', readBetween(parameters)),
  to: (_text, parameters) => part('range', readBetween(parameters)),
  q: (text) => {
    const search = parseSearchLine(text);
    return 'fault' in search ? null : { search };
  },
  search: (text) => part('search', readSearch(text)),
  by: (text) => (text === NONE ? { by: null } : part('by', readGroupDimension(text))),
  group: (text) => part('groupBy', readGroupBy(text)),
  columns: (text) => part('columns', readColumns(text)),
  compare: (text) => part('comparison', readComparison(text)),
  'compare-with': (text) => (searchOfLine(text) === null ? null : { comparison: { kind: 'line', line: text } }),
  event: (text) => part('event', readEvent(text)),
  live: (text) => (text === 'on' ? { isLive: true } : null),
  refresh: (text) => (text === 'on' ? { isRefreshing: true } : null),
  clock: (text) => (text === 'local' || text === 'utc' ? { clock: text } : null),
};

/**
 * Reads the query of a link, with or without its mark. Never throws; an access key in a link is ignored like everything else that it does
 * not know. Of parameters that say the same thing, the first one counts.
 */
export function readLink(query: string): FromLink {
  const all = new URLSearchParams(query);
  let state = DEFAULT_STATE;
  const ignored: string[] = [];
  /** The parameter that has set a member of the state. */
  const setBy = new Map<string, string>();
  const names = new Set<string>();
  for (const { name, text, isBroken } of parametersOf(query)) {
    const isReadable = Object.hasOwn(READERS, name) && !names.has(name) && !isBroken;
    const read = isReadable ? (READERS[name]?.(text, all) ?? null) : null;
    names.add(name);
    // The two ends of a time say one thing together.
    const setter = name === 'to' ? 'from' : name;
    if (read === null || Object.keys(read).some((member) => (setBy.get(member) ?? setter) !== setter)) {
      ignored.push(shownParameter(name, text));
      continue;
    }
    state = { ...state, ...read };
    for (const member of Object.keys(read)) setBy.set(member, setter);
  }
  return { state, ignored };
}

interface Parameter {
  readonly name: string;
  readonly text: string;
  /** Some of its bytes are no text: they are lost, and U+FFFD stands for them. */
  readonly isBroken: boolean;
}

function parametersOf(query: string): readonly Parameter[] {
  const pairs = query.replace(/^\?/, '').split('&');
  return pairs.flatMap((pair) =>
    [...new URLSearchParams(`&${pair}`)].map(([name, text]) => {
      const isBroken = `${name}${text}`.includes('\uFFFD') && !/\uFFFD|%EF%BF%BD/i.test(pair);
      return { name, text, isBroken };
    }),
  );
}

const SHOWN_LENGTH = 80;

/** As a person is told of it; the value of what may be a key is left out. */
function shownParameter(name: string, text: string): string {
  const shown = name.toLowerCase().includes('key') ? name : `${name}=${text}`;
  return shown.length > SHOWN_LENGTH ? `${shown.slice(0, SHOWN_LENGTH)}…` : shown;
}

function part<Name extends keyof ExplorerState>(name: Name, value: ExplorerState[Name] | null): Part | null {
  return value === null ? null : { [name]: value };
}

/** The zones of a text such as `1,7`, or `all`; null where it is neither. */
export function readZones(text: string): Zones | null {
  if (text === 'all') return text;
  const zones = text.split(',').map(zoneIdIn);
  return zones.every((zone) => zone !== null) ? [...new Set(zones)].toSorted((a, b) => a - b) : null;
}

function readTime(text: string | null): number {
  return readLinkTime(text ?? '') ?? Number.NaN;
}

function readBetween(parameters: URLSearchParams): TimeRange | null {
  const [from, to] = [readTime(parameters.get('from')), readTime(parameters.get('to'))];
  return from < to ? { kind: 'between', from, to } : null;
}

function isClause(value: unknown): value is LineClause {
  if (typeof value !== 'object' || value === null) return false;
  const { field, op, value: texts } = value as Readonly<Record<string, unknown>>;
  const isKnown = DIMENSIONS.some((name) => name === field) && FILTER_OP_NAMES.some((name) => name === op);
  return isKnown && Array.isArray(texts) && texts.every((text) => typeof text === 'string');
}

function readSearch(text: string): LineSearch | null {
  try {
    const { query = '', filters = [], exclude = [] } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const areClauses = (list: unknown): list is LineClause[] => Array.isArray(list) && list.every(isClause);
    return typeof query === 'string' && areClauses(filters) && areClauses(exclude) ? { ...NO_SEARCH, query, filters, exclude } : null;
  } catch {
    return null;
  }
}

function readGroupDimension(text: string): GroupDimension | null {
  return GROUP_DIMENSIONS.find((name) => name === text) ?? null;
}

function readGroupBy(text: string): readonly GroupDimension[] | null {
  const fields = text.split(',').map(readGroupDimension);
  return fields.every((field) => field !== null) && new Set(fields).size === fields.length ? fields : null;
}

function readComparison(text: string): Comparison | null {
  if (text === BEFORE) return { kind: BEFORE };
  const colon = text.indexOf(':');
  const field = DIMENSIONS.find((name) => name === text.slice(0, colon));
  const value = text.slice(colon + 1);
  if (field !== undefined) return value.length > STORED_TEXT_BYTES ? null : { kind: 'value', field, value };
  const [from = Number.NaN, to = Number.NaN, ...rest] = text.split('/').map(readTime);
  return from < to && rest.length === 0 ? { kind: 'time', from, to } : null;
}

function readEvent(text: string): EventKey | null {
  const [, digits = '', timestamp, logId] = /^(-?\d+)\/(-?\d{1,16})\/(.+)$/s.exec(text) ?? [];
  const zone = zoneIdIn(digits);
  return zone !== null && timestamp !== undefined && logId !== undefined ? { zone, timestamp: Number(timestamp), logId } : null;
}
