import type { EventRow } from '../../query/search-result.ts';
import type { ExportFormat } from './export-format.ts';

/**
 * The text of an export, some hundred rows at a time. `first` is what the iterator gave already, so that what is wrong from the start is
 * known before anything is sent. `onRows` is told how many rows each part has.
 */
export async function* exportText(
  format: ExportFormat,
  first: IteratorResult<readonly EventRow[]>,
  rest: AsyncIterator<readonly EventRow[]>,
  onRows: (count: number) => void,
): AsyncGenerator<Buffer, void, void> {
  try {
    if (format.header !== '') yield Buffer.from(format.header);
    for (let part = first; part.done !== true; part = await rest.next()) {
      let text = '';
      for (const row of part.value) text += format.writeRow(row);
      onRows(part.value.length);
      yield Buffer.from(text);
    }
  } finally {
    await rest.return?.();
  }
}
