import fc from 'fast-check';
import { FEED_FORMAT_NAMES, type FeedFormatName } from '../../../src/formats/feed-formats.ts';
import type { OracleEvent } from '../../oracle/raw-event.ts';
import type { OracleConditions, OracleMatch } from '../../oracle/search-oracle.ts';
import { arbitraryExplore, type ZonesRequest } from '../arbitrary-explore.ts';
import { arbitraryMatch, arbitraryRequest, type ZoneRequest } from '../arbitrary-request.ts';
import { NOW_MS } from '../filled-store.ts';
import { DAY_ZONES, UNKNOWN_ZONES } from './day-of-events.ts';
import type { ExportType } from './event-readers.ts';

export type ZoneList = readonly number[] | 'all';

/** The request of a reader of the feed. */
export interface FeedDraw {
  readonly zones: ZoneList;
  readonly format: FeedFormatName;
  readonly limit: number;
  /** The share of the events that the reader has already. */
  readonly behind: number;
}

const known = fc.constantFrom(...DAY_ZONES);
const unknown = fc.constantFrom(...UNKNOWN_ZONES);
const several = (count: number) => fc.uniqueArray(known, { minLength: count, maxLength: count });

/** Every kind of zone list. Lists come in any order, and may name a zone twice. */
const ZONE_LISTS: readonly fc.Arbitrary<ZoneList>[] = [
  fc.tuple(known),
  several(2),
  several(3),
  several(4),
  fc.array(fc.oneof({ arbitrary: known, weight: 5 }, { arbitrary: unknown, weight: 1 }), { minLength: 5, maxLength: 8 }),
  fc.constant('all'),
  fc.tuple(known, unknown, known),
  fc.uniqueArray(unknown, { minLength: 1, maxLength: 2 }),
];

/** One, small, odd, and larger than all; the rest is a page each. */
const LIMITS: readonly fc.Arbitrary<number>[] = [
  fc.constant(1),
  fc.integer({ min: 2, max: 9 }),
  fc.constantFrom(97, 333, 1_001, 4_097),
  fc.constant(100_000),
];

const behind = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }));

/** One draw for each kind of zone list; formats and limits take turns, so that every eight draws have each of them twice. */
export const feedDraws: fc.Arbitrary<readonly FeedDraw[]> = fc
  .tuple(fc.nat({ max: FEED_FORMAT_NAMES.length - 1 }), fc.nat({ max: LIMITS.length - 1 }))
  .chain(([firstFormat, firstLimit]) =>
    fc.tuple(
      ...ZONE_LISTS.map((zones, index) =>
        fc.record({
          zones,
          format: fc.constant(turn(FEED_FORMAT_NAMES, firstFormat + index)),
          limit: turn(LIMITS, firstLimit + index + Math.floor(index / LIMITS.length)),
          behind,
        }),
      ),
    ),
  );

function turn<T>(all: readonly T[], index: number): T {
  return all[index % all.length] as T;
}

export const zoneLists: fc.Arbitrary<ZoneList> = fc.oneof(...ZONE_LISTS);

export const feedDraw: fc.Arbitrary<FeedDraw> = fc.record({
  zones: zoneLists,
  format: fc.constantFrom(...FEED_FORMAT_NAMES),
  limit: fc.oneof(...LIMITS),
  behind,
});

/** The request of a tail: its conditions may leave out whatever they like. */
export interface TailDraw {
  readonly zones: ZoneList;
  readonly behind: number;
  readonly search: OracleMatch;
}

/** A tail of everything, and one with conditions. */
export function tailDraws(events: readonly OracleEvent[]): fc.Arbitrary<readonly TailDraw[]> {
  return fc.tuple(
    fc.record({ zones: zoneLists, behind, search: fc.constant({}) }),
    fc.record({ zones: zoneLists, behind, search: arbitraryMatch(events) }),
  );
}

export interface ExportDraw {
  readonly zones: ZoneList;
  readonly body: OracleConditions;
  readonly type: ExportType;
}

const isText = ({ body }: ZoneRequest) => (body.query ?? '').trim() !== '';
const isCidr = ({ body }: ZoneRequest) => (body.filters ?? []).some(({ op }) => op === 'cidr');

/** One with its conditions of whatever zones, and one of all events of a zone or two, which may have none. */
export function exportDraws(events: readonly OracleEvent[]): fc.Arbitrary<readonly ExportDraw[]> {
  const type = fc.constantFrom<ExportType>('text/csv', 'application/x-ndjson');
  const window = arbitraryRequest(events, NOW_MS, DAY_ZONES).map(({ body: { from, to } }) => ({ from, to }));
  const matching = fc.tuple(window, arbitraryMatch(events)).map(([{ from, to }, match]) => ({ from, to, ...match }));
  return fc.tuple(
    fc.record({ zones: zoneLists, body: matching, type }),
    fc.record({
      zones: fc.oneof({ arbitrary: fc.tuple(known), weight: 3 }, several(2), fc.tuple(unknown)),
      body: window.map(({ to }) => ({ from: NOW_MS - 72 * 3_600_000, to })),
      type,
    }),
  );
}

/** A page of rows however deep, groups, free text and CIDR ranges: a request of each kind. */
export function searchDraws(events: readonly OracleEvent[]): fc.Arbitrary<readonly ZoneRequest[]> {
  const request = arbitraryRequest(events, NOW_MS, DAY_ZONES);
  const page = fc.record({ page: fc.nat({ max: 60 }), pageSize: fc.constantFrom(7, 50, 499, 500) });
  const groupBy = fc.shuffledSubarray(['ip', 'action', 'country', 'ruleId', 'url', 'feature', 'asn'], { minLength: 1, maxLength: 3 });
  return fc.tuple(
    fc.tuple(request, page).map(([{ zoneId, body }, paging]) => ({ zoneId, body: { ...body, ...paging, groupBy: null } })),
    fc.tuple(request, groupBy).map(([{ zoneId, body }, by]) => ({ zoneId, body: { ...body, groupBy: by } })),
    request.filter(isText),
    request.filter(isCidr),
  );
}

/** Questions of the explorer about whatever zones. */
export function exploreDraws(events: readonly OracleEvent[]): fc.Arbitrary<ZonesRequest> {
  return arbitraryExplore(events, NOW_MS, zoneLists);
}
