import type { ColumnMetaData, RowGroup } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { BATCH_COLUMNS, type BatchColumn } from '../../../query/batch-columns.ts';
import { FileOutput } from '../runtime/file-output.ts';
import type { ColumnEncoder, ColumnPages } from './column-encoder.ts';
import { HAS_UPPERCASE_OR_NON_ASCII_COLUMN, PARQUET_MAGIC, PARQUET_TYPES, type ParquetColumn, SEQUENCE_COLUMN } from './parquet-column.ts';
import { parquetFooter } from './parquet-footer.ts';
import { rowGroupsOf } from './row-groups.ts';

const REQUIRED: readonly BatchColumn[] = ['shieldZoneId', 'timestamp'];

const COLUMNS: readonly ParquetColumn[] = [
  SEQUENCE_COLUMN,
  ...BATCH_COLUMNS.map(
    ({ name, type }): ParquetColumn => ({
      name,
      repetition_type: REQUIRED.includes(name) ? 'REQUIRED' : 'OPTIONAL',
      ...PARQUET_TYPES[type],
    }),
  ),
  HAS_UPPERCASE_OR_NON_ASCII_COLUMN,
  { name: 'logPlace', type: 'INT64', repetition_type: 'REQUIRED' },
];

/** Rows of a segment, sorted by zone. */
export interface SegmentRows {
  /** The numbers of their events. */
  readonly events: Uint32Array;
  readonly zones: Int32Array;
  /** Of the first of their logs; the others are behind it. */
  readonly firstBlobPointer: bigint;
}

/** Writes events of journals as a segment. Not synced. */
export function writeSegmentFile(path: string, { events, zones, firstBlobPointer }: SegmentRows, encoder: ColumnEncoder): void {
  const file = new FileOutput(path);
  try {
    file.put(PARQUET_MAGIC);
    const groups = rowGroupsOf(zones).map(([from, to]) => {
      const rows = {
        events: events.subarray(from, to),
        zones: zones.subarray(from, to),
        firstBlobPointer: firstBlobPointer + BigInt(from),
      };
      return writeRowGroup(file, rows, encoder);
    });
    for (const piece of parquetFooter({ name: 'events', columns: COLUMNS, groups }, file.offset)) {
      file.put(piece);
    }
    file.write();
  } finally {
    file.close();
  }
}

function writeRowGroup(file: FileOutput, rows: SegmentRows, encoder: ColumnEncoder): RowGroup {
  const start = file.offset;
  encoder.begin(rows.events);
  const columns = COLUMNS.map((column) => writeChunk(file, column, rows.events.length, pagesOf(column, rows, encoder)));
  // The pages are gone with the next row group.
  file.write();
  return { columns, num_rows: BigInt(rows.events.length), total_byte_size: BigInt(file.offset - start) };
}

function pagesOf({ name, repetition_type }: ParquetColumn, { zones, firstBlobPointer }: SegmentRows, encoder: ColumnEncoder): ColumnPages {
  switch (name) {
    case 'seq':
      return encoder.sequences();
    case 'timestamp':
      return encoder.timestamps();
    case 'shieldZoneId':
      return { ...encoder.values(name), bounds: { min_value: zones[0] as number, max_value: zones.at(-1) as number } };
    case 'unfolded':
      return encoder.hasUppercaseOrNonAscii();
    case 'logPlace':
      return encoder.countingFrom(firstBlobPointer);
    default:
      return encoder.values(name as BatchColumn, repetition_type === 'OPTIONAL');
  }
}

function writeChunk(
  file: FileOutput,
  { name, type }: ParquetColumn,
  rows: number,
  { encoding, data, dictionary, bounds }: ColumnPages,
): RowGroup['columns'][number] {
  const start = file.offset;
  if (dictionary !== undefined) {
    const page = { type: 'DICTIONARY_PAGE', dictionary_page_header: { num_values: dictionary.values, encoding: 'PLAIN' } } as const;
    writePage(file, page, dictionary.bytes);
  }
  const dataStart = file.offset;
  const levels = { definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' } as const;
  writePage(file, { type: 'DATA_PAGE', data_page_header: { num_values: rows, encoding, ...levels } }, data);
  const bytes = BigInt(file.offset - start);
  const metadata: ColumnMetaData = {
    type,
    encodings: dictionary === undefined ? [encoding, 'RLE'] : ['PLAIN', encoding, 'RLE'],
    path_in_schema: [name],
    codec: 'UNCOMPRESSED',
    num_values: BigInt(rows),
    total_uncompressed_size: bytes,
    total_compressed_size: bytes,
    data_page_offset: BigInt(dataStart),
    ...(dictionary === undefined ? {} : { dictionary_page_offset: BigInt(start) }),
    ...(bounds === undefined ? {} : { statistics: bounds }),
  };
  return { file_offset: BigInt(start), meta_data: metadata };
}

type Page = Omit<Parameters<typeof writePageHeader>[1], 'uncompressed_page_size' | 'compressed_page_size'>;

function writePage(file: FileOutput, page: Page, content: Buffer): void {
  const header = new ByteWriter(64);
  writePageHeader(header, { ...page, uncompressed_page_size: content.length, compressed_page_size: content.length });
  file.put(header.getBytes());
  file.put(content);
}
