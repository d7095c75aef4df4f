import type { OffsetIndex, RowGroup } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeIndexes } from 'hyparquet-writer/src/indexes.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { PARQUET_MAGIC, type ParquetColumn } from './parquet-column.ts';

/** Where the pages of a column of a row group are. Its place in the file is noted in the chunk. */
export interface ColumnIndex {
  readonly chunk: RowGroup['columns'][number];
  readonly offsetIndex: OffsetIndex;
}

export interface ParquetContent {
  /** What the rows are. */
  readonly name: string;
  readonly columns: readonly ParquetColumn[];
  readonly groups: RowGroup[];
  readonly indexes?: readonly ColumnIndex[];
}

/** What comes behind the row groups of a Parquet file, which end at `offset`. */
export function parquetFooter({ name, columns, groups, indexes = [] }: ParquetContent, offset: number): Uint8Array[] {
  const footer = new ByteWriter();
  // What is written into it has to know how far it is from the start of the file.
  footer.offset = offset;
  writeIndexes(footer, [...indexes]);
  writeMetadata(footer, {
    version: 1,
    created_by: 'shieldlog',
    schema: [{ name, num_children: columns.length }, ...columns],
    num_rows: groups.reduce((sum, { num_rows }) => sum + num_rows, 0n),
    row_groups: groups,
    metadata_length: 0,
  });
  return [footer.getBytes(), PARQUET_MAGIC];
}
