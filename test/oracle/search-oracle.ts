import { compareCodePoints } from './fold-case.ts';
import { groupEvents, type OracleGroup } from './group-events.ts';
import { matchesFilter, matchesQuery, type OracleFilter } from './match-event.ts';
import type { OracleEvent } from './raw-event.ts';

/** A valid request body of the search. */
export interface OracleRequest {
  readonly from: number;
  readonly to: number;
  readonly query?: string | null;
  readonly filters?: readonly OracleFilter[] | null;
  readonly groupBy?: readonly string[] | null;
  readonly buckets?: number | null;
  readonly page?: number;
  readonly pageSize?: number | null;
}

export interface OracleRow {
  readonly logId: string;
  readonly timestamp: number;
  readonly log: unknown;
  readonly fields: Readonly<Record<string, string>>;
}

/** One page of the full result, of rows or of groups. */
export interface OraclePage<Row> {
  readonly rows: readonly Row[] | null;
  readonly groups: readonly OracleGroup[] | null;
  readonly total: number;
  readonly totalPages: number;
  readonly page: number;
  readonly errorResponse: { readonly statusCode: 200; readonly success: true; readonly message: null; readonly errorKey: null };
}

export type OracleResponse = OraclePage<OracleRow>;

/** Zones as a path has them: one, several, or all. */
export type OracleZones = number | readonly number[] | 'all';

/**
 * The answer of the search operation, computed the plainest way from all events in memory. It shares no code with the program and is the
 * measure of it: slow, and obviously what the specification says.
 */
export function searchOracle(events: readonly OracleEvent[], request: OracleRequest, zoneId: number): OracleResponse {
  return pageOf(matchingEvents(events, request, zoneId), request, clamp(request.pageSize ?? 50, 1, 500), toRow);
}

/** The page of a request whose full result these events are, in the order of their rows. */
export function pageOf<Row>(
  matching: readonly OracleEvent[],
  request: OracleRequest,
  pageSize: number,
  rowOf: (event: OracleEvent) => Row,
): OraclePage<Row> {
  const { from, to, page = 0 } = request;
  const by = request.groupBy ?? [];
  const slice = <T>(all: readonly T[]): readonly T[] => all.slice(page * pageSize, (page + 1) * pageSize);
  const grouping = { by, buckets: clamp(request.buckets ?? 0, 0, 500), from, to };
  const groups = by.length === 0 ? null : groupEvents(matching, grouping);
  const total = groups?.length ?? matching.length;
  return {
    rows: groups === null ? slice(matching).map(rowOf) : null,
    groups: groups === null ? null : slice(groups),
    total,
    totalPages: Math.ceil(total / pageSize),
    page,
    errorResponse: { statusCode: 200, success: true, message: null, errorKey: null },
  };
}

/** What an export asks for. */
export interface OracleConditions extends Pick<OracleRequest, 'from' | 'to'>, OracleMatch {}

/** The part of a request that says which events match. */
export interface OracleMatch {
  readonly query?: string | null;
  readonly filters?: readonly OracleFilter[] | null;
  readonly exclude?: readonly OracleFilter[] | null;
}

/** The events that a search finds or an export has, in the order of their rows. */
export function matchingEvents(
  events: readonly OracleEvent[],
  { from, to, ...match }: OracleConditions,
  zones: OracleZones,
): OracleEvent[] {
  return events
    .filter((event) => isInZones(event, zones) && event.timestamp >= from && event.timestamp < to && matches(event, match))
    .sort(newestFirst);
}

/** Whether every clause of `filters` and none of `exclude` matches, and every term of the query. */
export function matches(event: OracleEvent, { query, filters, exclude }: OracleMatch): boolean {
  return (
    matchesQuery(event, query) &&
    (filters ?? []).every((filter) => matchesFilter(event, filter)) &&
    !(exclude ?? []).some((filter) => matchesFilter(event, filter))
  );
}

export function isInZones({ zoneId }: OracleEvent, zones: OracleZones): boolean {
  return zones === 'all' || (typeof zones === 'number' ? zoneId === zones : zones.includes(zoneId));
}

function newestFirst(a: OracleEvent, b: OracleEvent): number {
  return b.timestamp - a.timestamp || compareCodePoints(a.logId, b.logId) || a.zoneId - b.zoneId;
}

export function toRow({ logId, timestamp, log, fields }: OracleEvent): OracleRow {
  return { logId, timestamp, log, fields };
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
