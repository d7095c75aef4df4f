import { DIMENSIONS, GROUP_DIMENSIONS, type GroupDimension } from '../../query/event-fields.ts';
import { type LineClause, type LineSearch, parseSearchLine, searchLineOf } from '../../query/search-line.ts';
import { readColumns } from './event-columns.ts';
import { type Comparison, DEFAULT_STATE, type EventKey, type ExplorerState, NO_SEARCH, type Zones, zonesText } from './explorer-state.ts';
import { minutesText, readMinutes, type TimeRange } from './time-range.ts';

/** A state read from a link. */
export interface FromLink {
  readonly state: ExplorerState;
  /** The parameters that say nothing, as `name=value`. */
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
  if (comparison !== null) parameters.set('compare', comparisonText(comparison));
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

function comparisonText(comparison: Comparison): string {
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
  event: (text) => part('event', readEvent(text)),
  live: (text) => (text === 'on' ? { isLive: true } : null),
  refresh: (text) => (text === 'on' ? { isRefreshing: true } : null),
  clock: (text) => (text === 'local' || text === 'utc' ? { clock: text } : null),
};

/** Reads the parameters of a link. Never throws; an access key in a link is ignored like everything else that it does not know. */
export function readLink(parameters: URLSearchParams): FromLink {
  let state = DEFAULT_STATE;
  const ignored: string[] = [];
  for (const [name, text] of parameters) {
    const read = Object.hasOwn(READERS, name) ? (READERS[name]?.(text, parameters) ?? null) : null;
    if (read === null) ignored.push(name.toLowerCase().includes('key') ? name : `${name}=${text}`);
    else state = { ...state, ...read };
  }
  return { state, ignored };
}

function part<Name extends keyof ExplorerState>(name: Name, value: ExplorerState[Name] | null): Part | null {
  return value === null ? null : { [name]: value };
}

/** The zones of a text such as `1,7`, or `all`; null where it is neither. */
export function readZones(text: string): Zones | null {
  if (text === 'all') return text;
  const zones = text.split(',').map((digits) => (/^-?\d{1,10}$/.test(digits) ? Number(digits) : Number.NaN));
  const areZones = zones.every((zone) => Math.abs(zone + 0.5) < 2 ** 31);
  return areZones ? [...new Set(zones)].toSorted((a, b) => a - b) : null;
}

function readTime(text: string | null): number {
  return text === null ? Number.NaN : Date.parse(text);
}

function readBetween(parameters: URLSearchParams): TimeRange | null {
  const [from, to] = [readTime(parameters.get('from')), readTime(parameters.get('to'))];
  return from < to ? { kind: 'between', from, to } : null;
}

function isClause(value: unknown): value is LineClause {
  if (typeof value !== 'object' || value === null) return false;
  const { field, op, value: texts } = value as Readonly<Record<string, unknown>>;
  const isKnown = DIMENSIONS.some((name) => name === field) && typeof op === 'string';
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
  const colon = text.indexOf(':');
  const field = DIMENSIONS.find((name) => name === text.slice(0, colon));
  if (field !== undefined) return { kind: 'value', field, value: text.slice(colon + 1) };
  const [from = Number.NaN, to = Number.NaN, ...rest] = text.split('/').map(readTime);
  return from < to && rest.length === 0 ? { kind: 'time', from, to } : null;
}

function readEvent(text: string): EventKey | null {
  const [, zone, timestamp, logId] = /^(-?\d{1,10})\/(-?\d{1,16})\/(.+)$/s.exec(text) ?? [];
  return zone === undefined || timestamp === undefined || logId === undefined
    ? null
    : { zone: Number(zone), timestamp: Number(timestamp), logId };
}
