import type { Page } from '../../query/plan/search-plan.ts';
import type { EventGroup, EventRow, RowPiece, SearchResult } from '../../query/plan/search-result.ts';
import type { Hold } from './answer-memory.ts';
import type { AnswerPart, AnswerPieces } from './answer-writes.ts';

/** The GenericRequestResponse of a search that succeeded. */
const SUCCEEDED = JSON.stringify({ statusCode: 200, success: true, message: null, errorKey: null });

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

/** EventLogsSearchResponse as the pieces of an answer, keys in the specification's order. */
export function searchJson(result: SearchResult, page: Page, hold: Hold): AnswerPieces {
  return pageJson(result, page, { hold, writeRow: rowJson, more: () => [], moreBytes: 0 });
}

export interface PageWriting {
  readonly hold: Hold;
  readonly writeRow: WriteRow;
  /** Writes the members that follow those of the page, each after a comma. */
  readonly more: () => Iterable<AnswerPart>;
  /** What these take in memory, about. */
  readonly moreBytes: number;
}

/** An answer with a page: rows, groups and totals. A page of the size 0 has neither rows nor groups. */
export async function* pageJson(
  result: SearchResult,
  page: Page,
  { hold, writeRow, more, moreBytes }: PageWriting,
): AsyncGenerator<Iterable<AnswerPart>, void, void> {
  const groups = result.kind === 'groups' ? result.groups : [];
  const others = { bytes: moreBytes + bytesOfGroups(groups), isLast: true };
  try {
    for await (const _ of hold([others])) {
      if (page.size > 0 && result.kind === 'rows') {
        let before = '{"rows":[';
        for await (const piece of hold(result.rows)) {
          yield itemsOf(piece, writeRow, before);
          before = beforeNext(piece, before);
        }
        yield [before === ',' ? '],"groups":null' : `${before}],"groups":null`];
      } else {
        yield ['{"rows":null,"groups":'];
        yield page.size > 0 ? jsonList(groups, groupJson) : ['null'];
      }
      yield endOf(result, page, more);
    }
  } finally {
    // Rows that nobody has begun to read hold files.
    if (result.kind === 'rows') await result.rows[Symbol.asyncIterator]().return?.();
  }
}

/** What stands before the rows of the next piece: a page past the end may be one piece without rows. */
function beforeNext({ length }: RowPiece, before: string): string {
  return length > 0 ? ',' : before;
}

function* endOf({ total }: SearchResult, { index, size }: Page, more: PageWriting['more']): Iterable<AnswerPart> {
  yield `,"total":${total},"totalPages":${size > 0 ? Math.ceil(total / size) : 0},"page":${index}`;
  yield* more();
  yield `,"errorResponse":${SUCCEEDED}}`;
}

/** A JSON array, each item of which is made while it is written. */
export function* jsonList<T>(items: Iterable<T>, write: (item: T) => Iterable<AnswerPart>): Iterable<AnswerPart> {
  yield '[';
  yield* itemsOf(items, write, '');
  yield ']';
}

function* itemsOf<T>(items: Iterable<T>, write: (item: T) => Iterable<AnswerPart>, before: string): Iterable<AnswerPart> {
  let separator = before;
  for (const item of items) {
    yield separator;
    yield* write(item);
    separator = ',';
  }
}

function bytesOfGroups(groups: readonly EventGroup[]): number {
  return groups.reduce((sum, { key, context, sparkline = [] }) => {
    const texts = [...Object.values(key), context.country, context.asn, context.features, context.ruleIds];
    return sum + texts.reduce((length, text) => length + text.length, 8 * sparkline.length);
  }, 0);
}
