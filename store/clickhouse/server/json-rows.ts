import { StringDecoder } from 'node:string_decoder';
import { ROW_BYTES } from './result-memory.ts';

/** The rows of a statement. Integers of 64 bits are texts. */
export interface ClickhouseRows {
  readonly rows: readonly (readonly unknown[])[];
  /** How many rows there would be without LIMIT; 0 where the statement does not ask for it. */
  readonly rowsBeforeLimit: number;
}

/** An answer of the format JSONCompact, without the rows that have been parsed. */
interface JsonFrame {
  readonly data: readonly (readonly unknown[])[];
  readonly rows?: number;
  readonly rows_before_limit_at_least?: number;
}

const ROW_BEGIN = '\t\t[';

/**
 * Reads an answer of the format JSONCompact (https://clickhouse.com/docs/interfaces/formats/JSONCompact), which has each row on a line of
 * its own: a row is parsed as soon as it is there, so that the text of the whole answer is never in memory, nor parsed in one turn.
 * `count` is told the bytes that have come, and its error ends the reading. Rejects where the answer is not whole.
 */
export async function readJsonRows(chunks: AsyncIterable<Buffer>, count: (bytes: number) => void): Promise<ClickhouseRows> {
  const decoder = new StringDecoder('utf8');
  const rows: (readonly unknown[])[] = [];
  const frame: string[] = [];
  let line: string[] = [];
  const endLine = (): void => {
    const text = line.join('');
    line = [];
    if (text.startsWith(ROW_BEGIN)) {
      count(ROW_BYTES);
      rows.push(JSON.parse(text.endsWith(',') ? text.slice(0, -1) : text));
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
  const { data, rows: told, rows_before_limit_at_least: rowsBeforeLimit = 0 } = JSON.parse(frame.join('\n')) as JsonFrame;
  rows.push(...data);
  if (told !== undefined && told !== rows.length) {
    throw new SyntaxError(`an answer of ${told} rows has ${rows.length}`);
  }
  return { rows, rowsBeforeLimit };
}
