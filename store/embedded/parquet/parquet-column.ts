import type { ColumnMetaData, SchemaElement } from 'hyparquet';
import type { BATCH_COLUMNS } from '../../../query/batch-columns.ts';

/** A column of a Parquet file as its schema has it. */
export type ParquetColumn = SchemaElement & { readonly type: ColumnMetaData['type'] };

/** What the columns of a batch are in a Parquet file. */
export const PARQUET_TYPES = {
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  uint64: { type: 'INT64', converted_type: 'UINT_64' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  bytes: { type: 'BYTE_ARRAY' },
} as const satisfies Record<(typeof BATCH_COLUMNS)[number]['type'], Partial<ParquetColumn>>;

/** Every Parquet file begins and ends with it. */
export const PARQUET_MAGIC: Uint8Array = Buffer.from('PAR1');

/** Columns that journals and segments have besides those of a batch. */
export const SEQUENCE_COLUMN: ParquetColumn = { name: 'seq', type: 'INT64', repetition_type: 'REQUIRED' };
export const HAS_UPPERCASE_OR_NON_ASCII_COLUMN: ParquetColumn = { name: 'unfolded', type: 'BOOLEAN', repetition_type: 'REQUIRED' };
