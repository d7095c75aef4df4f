import type { Page } from '../../query/plan/search-plan.ts';
import type { EventGroup, EventRow, SearchResult } from '../../query/plan/search-result.ts';
import type { AnswerPart } from './answer-writer.ts';

/** The GenericRequestResponse of a search that succeeded. */
export const SUCCEEDED = JSON.stringify({ statusCode: 200, success: true, message: null, errorKey: null });

/** Writes a row as the parts of an answer. */
export type WriteRow = (row: EventRow) => readonly AnswerPart[];

/** The row as JSON. The log's bytes stay as they are: parsing it would lose digits of integers past 2^53, and time. */
export function rowJson({ logId, timestamp, log, fields }: EventRow, more = ''): readonly AnswerPart[] {
  return [`{"logId":${JSON.stringify(logId)},"timestamp":${timestamp},"log":`, log, `,"fields":${JSON.stringify(fields)}${more}}`];
}

/** A row that says its zone, as in answers about several zones. */
export function zoneRowJson(row: EventRow): readonly AnswerPart[] {
  return rowJson(row, `,"shieldZoneId":${row.zoneId}`);
}

function groupJson({ key, count, firstSeen, lastSeen, context, sparkline }: EventGroup): readonly AnswerPart[] {
  const { country, asn, blocked, challenged, logged, features, ruleIds } = context;
  const group = { key, count, firstSeen, lastSeen, context: { country, asn, blocked, challenged, logged, features, ruleIds } };
  return [JSON.stringify(sparkline === undefined ? group : { ...group, sparkline })];
}

/** EventLogsSearchResponse as JSON, keys in the specification's order. */
export function* searchResponse(result: SearchResult, page: Page): Iterable<AnswerPart> {
  yield '{';
  yield* pageMembers(result, page, rowJson);
  yield `,"errorResponse":${SUCCEEDED}}`;
}

/** The members of an answer that hold its page: rows, groups and totals. A page of the size 0 has neither rows nor groups. */
export function* pageMembers(result: SearchResult, { index, size }: Page, writeRow: WriteRow): Iterable<AnswerPart> {
  yield '"rows":';
  yield* size > 0 && result.kind === 'rows' ? listOf(result.rows, writeRow) : ['null'];
  yield ',"groups":';
  yield* size > 0 && result.kind === 'groups' ? listOf(result.groups, groupJson) : ['null'];
  const totalPages = size > 0 ? Math.ceil(result.total / size) : 0;
  yield `,"total":${result.total},"totalPages":${totalPages},"page":${index}`;
}

function* listOf<T>(items: Iterable<T>, write: (item: T) => readonly AnswerPart[]): Iterable<AnswerPart> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* write(item);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
