import { almostThere, type EventValues } from './event-values.ts';

/** What callers ask. `light search` is what one asks beside all others. */
export const REQUEST_KINDS = [
  'rows',
  'groups',
  'groups of long keys',
  'contains',
  'many values',
  'wildcard',
  'query',
  'explore',
  'difference',
  'page of explore',
  'zones',
  'rules',
  'export CSV',
  'export NDJSON',
  'feed native',
  'feed ecs',
  'feed ocsf',
  'feed cef',
  'tail',
  'intake',
  'light search',
] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];

/** A request that is answered whole, as it goes over the wire. */
export interface WireRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const HOUR_MS = 3_600_000;
const FACETS = ['feature', 'ruleId', 'ip', 'ja4', 'ua', 'url', 'asn', 'country', 'action', 'shieldZoneId'];
const WORDS = 16;
const NEEDLES = 10;
const STARS = 200;

/** The request of a kind; `number` is that of the client, of whom each asks for something else where the kind has values. */
export function wireRequest(
  kind: Exclude<RequestKind, 'tail' | 'intake'>,
  values: EventValues,
  number: number,
  nowMs: number,
): WireRequest {
  const window = { from: nowMs - 71 * HOUR_MS, to: nowMs + 30_000 };
  const search = (body: object): WireRequest => post('1/search', { ...window, ...body });
  const filtered = (op: string, value: readonly string[]): WireRequest => search({ filters: [{ field: 'ua', op, value }] });
  const explore = (body: object): WireRequest => post('all/explore', { ...window, ...body });
  switch (kind) {
    case 'rows':
      return search({ pageSize: 500 });
    case 'light search':
      return search({ pageSize: 1, filters: [{ field: 'country', op: 'eq', value: ['FR'] }] });
    case 'groups':
      return search({ groupBy: ['action'], pageSize: 1, buckets: 60 });
    case 'groups of long keys':
      return search({ groupBy: ['ua', 'url'], pageSize: 500, buckets: 500 });
    case 'contains':
      return filtered('contains', almostThere(ofNeedle(values), NEEDLES, number));
    case 'many values':
      return search({ filters: FACETS.slice(0, 5).map((field) => ({ field, op: 'in', value: manyValues(field, number) })) });
    case 'wildcard':
      return filtered('wildcard', [`${'b*'.repeat(STARS)}ca${number}`, `${'a*'.repeat(8)}\u0000c`, `${'_*%*'.repeat(8)}d`, 'Я*漢*😀*z']);
    case 'query':
      return search({ query: almostThere({ ...values, kind: 'short near misses' }, WORDS, number).join(' ') });
    case 'explore':
      return explore({ pageSize: 0, histogram: { buckets: 500, by: 'ua' }, facets: FACETS.map((field) => ({ field, limit: 100 })) });
    case 'difference':
      return explore({
        pageSize: 0,
        selection: { from: nowMs - 12 * HOUR_MS - number * 60_000 },
        facets: FACETS.map((field) => ({ field, limit: 100, order: 'difference' })),
      });
    case 'page of explore':
      return explore({ pageSize: 500, groupBy: ['ua'], histogram: { buckets: 500, by: 'shieldZoneId' } });
    case 'zones':
      return get(`zones?from=${window.from}&to=${window.to}`, 'application/json');
    case 'rules':
      return get(`all/rules?from=${window.from}&to=${window.to}`, 'application/json');
    case 'export CSV':
      return post('all/export', window, 'text/csv');
    case 'export NDJSON':
      return post('all/export', window, 'application/x-ndjson');
    case 'feed native':
    case 'feed ecs':
    case 'feed ocsf':
    case 'feed cef':
      return get(`all/feed?limit=100000&format=${kind.slice('feed '.length)}`, 'application/x-ndjson');
  }
}

/** Values as long as a text that is looked for may be. */
const ofNeedle = (values: EventValues): EventValues => ({ ...values, bytes: Math.min(values.bytes, 1_000) });

const manyValues = (field: string, number: number): readonly string[] =>
  Array.from({ length: 1_000 }, (_, index) => (field === 'ip' ? `10.0.${index >> 8}.${index & 255}` : `value ${number} ${index}`));

function post(path: string, body: object, accept = 'application/json'): WireRequest {
  const headers = { 'content-type': 'application/json', accept };
  return { method: 'POST', path: `/shield/event-logs/${path}`, headers, body: JSON.stringify(body) };
}

function get(path: string, accept: string): WireRequest {
  return { method: 'GET', path: `/shield/event-logs/${path}`, headers: { accept }, body: undefined };
}

/** The text that ends a tail, and the conditions that find it and no event. */
export const MARKER = 'the-end-of-this-tail';

export function tailPath(values: EventValues, number: number): string {
  const needles = almostThere(ofNeedle(values), NEEDLES, number);
  const search = number % 2 === 0 ? {} : { filters: [{ field: 'ua', op: 'contains', value: [...needles, MARKER] }] };
  return `/shield/event-logs/all/tail?search=${encodeURIComponent(JSON.stringify(search))}`;
}
