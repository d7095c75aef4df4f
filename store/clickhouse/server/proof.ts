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

/** The header, where there is one. */
export type Summary = Partial<Readonly<Record<CountedRows, string>>> | undefined;

/** Nothing shows that the rows of an INSERT are stored, or that those of an answer are all. */
export class UnprovenRows extends Error {
  override readonly name = 'UnprovenRows';
}

/** Throws {@link UnprovenRows} unless ClickHouse says that it has at least these rows; returns how many it says. */
export function proveRows(summary: Summary, rows: number, counted: CountedRows = 'written_rows'): number {
  const told = rowsIn(summary, counted);
  if (told < rows) {
    throw new UnprovenRows(`of ${rows} rows, ${counted} of X-ClickHouse-Summary has ${told}`);
  }
  return told;
}

const NEWLINE = 0x0a;

/** Throws {@link UnprovenRows} unless an answer has a whole line for each row that ClickHouse has sent. */
export function proveLines(summary: Summary, answer: Uint8Array): void {
  let lines = 0;
  for (let at = answer.indexOf(NEWLINE); at >= 0; at = answer.indexOf(NEWLINE, at + 1)) {
    lines += 1;
  }
  const told = rowsIn(summary, 'result_rows');
  if (lines < told) {
    throw new UnprovenRows(`the answer has ${lines} whole lines, and result_rows of X-ClickHouse-Summary ${told}`);
  }
}

function rowsIn(summary: Summary, counted: CountedRows): number {
  const told = Number(summary?.[counted]);
  if (Number.isNaN(told)) {
    throw new UnprovenRows(`the answer has no X-ClickHouse-Summary with ${counted}: a gateway that drops this header is not allowed`);
  }
  return told;
}
