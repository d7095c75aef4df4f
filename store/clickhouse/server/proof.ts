type Headers = Readonly<Record<string, string | readonly string[] | undefined>> | undefined;

/** What ClickHouse counts of a statement in the header X-ClickHouse-Summary. */
export type CountedRows = 'written_rows' | 'read_rows' | 'result_rows';

/**
 * Throws unless an answer is ClickHouse's own to the statement with this number: a web server, a page for signing in or a gateway answers
 * 200 to anything, too.
 */
export function proveAnswer(headers: Headers, queryId: string): void {
  const told = headers?.['x-clickhouse-query-id'];
  if (told === undefined) {
    throw new Error('the answer has no X-ClickHouse-Query-Id: it is not ClickHouse that answers, or a gateway drops this header');
  }
  if (told !== queryId) {
    throw new Error(`the answer has X-ClickHouse-Query-Id ${told}, which is that of another statement than ${queryId}`);
  }
}

/** Nothing shows that the rows of an INSERT are stored. */
export class UnprovenRows extends Error {
  override readonly name = 'UnprovenRows';
}

/** Throws {@link UnprovenRows} unless ClickHouse says that it has at least these rows. */
export function proveRows(
  summary: Partial<Readonly<Record<CountedRows, string>>> | undefined,
  rows: number,
  counted: CountedRows = 'written_rows',
): void {
  const told = summary?.[counted];
  if (told === undefined) {
    throw new UnprovenRows(`the answer has no X-ClickHouse-Summary with ${counted}: a gateway that drops this header is not allowed`);
  }
  if (!(Number(told) >= rows)) {
    throw new UnprovenRows(`of ${rows} rows, ${counted} of X-ClickHouse-Summary has ${told}`);
  }
}
