import type { Page } from '../../query/plan/search-plan.ts';
import type { EventGroup, EventRow, SearchResult } from '../../query/plan/search-result.ts';

/** The GenericRequestResponse of a search that succeeded. */
export const SUCCEEDED = JSON.stringify({ statusCode: 200, success: true, message: null, errorKey: null });

/** The log's text is copied: parsing it would lose digits of integers past 2^53, and time. */
function rowMembers({ logId, timestamp, logJson, fields }: EventRow): string {
  return `"logId":${JSON.stringify(logId)},"timestamp":${timestamp},"log":${logJson},"fields":${JSON.stringify(fields)}`;
}

export function rowJson(row: EventRow): string {
  return `{${rowMembers(row)}}`;
}

/** A row that says its zone, as in answers about several zones. */
export function zoneRowJson(row: EventRow): string {
  return `{${rowMembers(row)},"shieldZoneId":${row.zoneId}}`;
}

function groupJson({ key, count, firstSeen, lastSeen, context, sparkline }: EventGroup): string {
  const { country, asn, blocked, challenged, logged, features, ruleIds } = context;
  return JSON.stringify({
    key,
    count,
    firstSeen,
    lastSeen,
    context: { country, asn, blocked, challenged, logged, features, ruleIds },
    ...(sparkline === undefined ? {} : { sparkline }),
  });
}

/** EventLogsSearchResponse as JSON text, keys in the specification's order. */
export function searchResponseJson(result: SearchResult, page: Page): string {
  return `{${pageMembers(result, page, rowJson)},"errorResponse":${SUCCEEDED}}`;
}

/** The members of an answer that hold its page: rows, groups and totals. A page of the size 0 has neither rows nor groups. */
export function pageMembers(result: SearchResult, { index, size }: Page, writeRow: (row: EventRow) => string): string {
  const rows = size > 0 && result.kind === 'rows' ? `[${result.rows.map(writeRow).join(',')}]` : 'null';
  const groups = size > 0 && result.kind === 'groups' ? `[${result.groups.map(groupJson).join(',')}]` : 'null';
  const totalPages = size > 0 ? Math.ceil(result.total / size) : 0;
  return `"rows":${rows},"groups":${groups},"total":${result.total},"totalPages":${totalPages},"page":${index}`;
}
