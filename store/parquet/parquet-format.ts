import type { ColumnMetaData, OffsetIndex, RowGroup, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeIndexes } from 'hyparquet-writer/src/indexes.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import type { EventColumn } from '../../sql/columns.ts';
import { REQUIRED_COLUMNS } from '../../sql/segment-layout.ts';

/** The parts of the Parquet format that all files of the store share: https://parquet.apache.org/docs/file-format/. */

/** Every Parquet file begins and ends with it. */
export const PARQUET_MAGIC: Uint8Array = Buffer.from('PAR1');

/** Parquet writes a length in this many bytes before a PLAIN text, before definition levels, and after the metadata of a file. */
export const LENGTH_BYTES = 4;

/** A column of a Parquet file as its schema describes it. */
export type ParquetColumn = SchemaElement & { readonly type: ColumnMetaData['type'] };

type ColumnChunk = RowGroup['columns'][number];

const PARQUET_TYPES = {
  INTEGER: { type: 'INT32' },
  BIGINT: { type: 'INT64' },
  UBIGINT: { type: 'INT64', converted_type: 'UINT_64' },
  VARCHAR: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  BLOB: { type: 'BYTE_ARRAY' },
  BOOLEAN: { type: 'BOOLEAN' },
} as const satisfies Record<EventColumn['duckdbType'], Partial<ParquetColumn>>;

/** A column of the event table in a Parquet file. Other columns than `REQUIRED_COLUMNS` are optional unless `allPresent`. */
export function parquetColumn({ name, duckdbType }: EventColumn, allPresent = false): ParquetColumn {
  const isRequired = allPresent || REQUIRED_COLUMNS.some((required) => required === name);
  return { name, repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL', ...PARQUET_TYPES[duckdbType] };
}

/** A column of bytes that the event table does not have, with a value in every row. */
export function bytesColumn(name: string): ParquetColumn {
  return { name, repetition_type: 'REQUIRED', ...PARQUET_TYPES.BLOB };
}

type PageHeader = Omit<Parameters<typeof writePageHeader>[1], 'uncompressed_page_size' | 'compressed_page_size'>;

export function pageHeader(header: PageHeader, uncompressedBytes: number, compressedBytes = uncompressedBytes): Uint8Array {
  const writer = new ByteWriter(64);
  writePageHeader(writer, { ...header, uncompressed_page_size: uncompressedBytes, compressed_page_size: compressedBytes });
  return writer.getBytes();
}

export function dataPage(rows: number, encoding: ColumnMetaData['encodings'][number]): PageHeader {
  const levels = { definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' } as const;
  return { type: 'DATA_PAGE', data_page_header: { num_values: rows, encoding, ...levels } };
}

/** Where the pages of a column chunk are. `parquetFooter` notes in the chunk where the file has this index. */
export interface ColumnIndex {
  readonly chunk: ColumnChunk;
  readonly offsetIndex: OffsetIndex;
}

export interface ParquetContent {
  /** Names the schema. */
  readonly name: string;
  readonly columns: readonly ParquetColumn[];
  readonly groups: RowGroup[];
  readonly indexes?: readonly ColumnIndex[];
}

/** The end of a Parquet file whose row groups end at `offset`. */
export function parquetFooter({ name, columns, groups, indexes = [] }: ParquetContent, offset: number): Uint8Array[] {
  const footer = new ByteWriter();
  // The writer notes offsets from the start of the file.
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
