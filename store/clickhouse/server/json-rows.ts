import { StringDecoder } from 'node:string_decoder';
import { type AnsweredColumn, rowCheckOf } from './answer.ts';
import { ROW_BYTES } from './result-memory.ts';

/** The rows of a statement. Integers of 64 bits are texts. */
export interface ClickhouseRows {
  readonly rows: readonly (readonly unknown[])[];
  /** How many rows there would be without LIMIT; 0 where the statement does not ask for it. */
  readonly rowsBeforeLimit: number;
}

/** An answer of the format JSONCompact, without the rows that have been parsed. */
interface JsonFrame {
  readonly meta: readonly AnsweredColumn[];
  readonly data: readonly (readonly unknown[])[];
  readonly rows: number;
  readonly rows_before_limit_at_least?: number;
}

const ROW_BEGIN = '\t\t[';

/**
 * Reads an answer of the format JSONCompact (https://clickhouse.com/docs/interfaces/formats/JSONCompact), which has each row on a line of
 * its own: a row is parsed as soon as it is there, so that the text of the whole answer is never in memory, nor parsed in one turn.
 * `count` is told the bytes that have come, and its error ends the reading. Rejects where the answer is not whole, or a
 * value is none of its column's type.
 */
export async function readJsonRows(chunks: AsyncIterable<Buffer>, count: (bytes: number) => void): Promise<ClickhouseRows> {
  const decoder = new StringDecoder('utf8');
  const rows: (readonly unknown[])[] = [];
  const frame: string[] = [];
  let line: string[] = [];
  let wrongWith: ReturnType<typeof rowCheckOf> | undefined;
  const take = (row: readonly unknown[], columns: () => JsonFrame): void => {
    wrongWith ??= rowCheckOf(columns().meta);
    const wrong = wrongWith(row);
    if (wrong !== undefined) {
      throw new SyntaxError(`an answer is garbled: ${wrong}`);
    }
    rows.push(row);
  };
  const endLine = (): void => {
    const text = line.join('');
    line = [];
    if (text.startsWith(ROW_BEGIN)) {
      count(ROW_BYTES);
      // The columns stand before the rows.
      take(JSON.parse(text.endsWith(',') ? text.slice(0, -1) : text), () => JSON.parse(`${frame.join('\n')}]}`));
    } else {
      frame.push(text);
    }
  };
  for await (const chunk of chunks) {
    count(chunk.length);
    const [first = '', ...others] = decoder.write(chunk).split('\n');
    line.push(first);
    for (const begun of others) {
      endLine();
      line.push(begun);
    }
  }
  endLine();
  const whole = JSON.parse(frame.join('\n')) as JsonFrame;
  for (const row of whole.data) {
    take(row, () => whole);
  }
  if (whole.rows !== rows.length) {
    throw new SyntaxError(`an answer of ${whole.rows} rows has ${rows.length}`);
  }
  const { rows_before_limit_at_least: rowsBeforeLimit = 0 } = whole;
  if (!Number.isSafeInteger(rowsBeforeLimit)) {
    throw new SyntaxError(`an answer has ${JSON.stringify(rowsBeforeLimit)} rows before its limit`);
  }
  return { rows, rowsBeforeLimit };
}

/** The row of an answer that has one. Throws where it has none, or several. */
export function onlyRow({ rows }: ClickhouseRows): readonly unknown[] {
  const [row] = rows;
  if (row === undefined || rows.length > 1) {
    throw new SyntaxError(`an answer of one row has ${rows.length}`);
  }
  return row;
}
