import type { ColumnMetaData, RowGroup } from 'hyparquet';
import type { BatchColumn } from '../../../query/batch-columns.ts';
import { type EventColumnName, SEGMENT_COLUMNS } from '../../../sql/columns.ts';
import { dataPage, PARQUET_MAGIC, type ParquetColumn, pageHeader, parquetColumn, parquetFooter } from '../../parquet/parquet-format.ts';
import { rowGroupsOf } from '../../parquet/row-groups.ts';
import { FileOutput } from '../runtime/file-output.ts';
import type { ColumnEncoder, ColumnPages } from './column-encoder.ts';

const COLUMNS = SEGMENT_COLUMNS.map((column) => parquetColumn(column));

/** Rows of a segment, sorted by zone. */
export interface SegmentRows {
  /** The numbers of the events of the rows. */
  readonly events: Uint32Array;
  readonly zones: Int32Array;
  /** The blob pointer of the first row; the others follow. */
  readonly firstBlobPointer: bigint;
}

/** Writes events of journals as a segment. Not synced. */
export function writeSegmentFile(path: string, { events, zones, firstBlobPointer }: SegmentRows, encoder: ColumnEncoder): void {
  using file = new FileOutput(path);
  file.put(PARQUET_MAGIC);
  const groups: RowGroup[] = [];
  const fitting = (from: number, to: number) => from + encoder.fittingRows(events.subarray(from, to));
  for (const [from, to] of rowGroupsOf(zones, fitting)) {
    const start = file.offset;
    const group = {
      events: events.subarray(from, to),
      zones: zones.subarray(from, to),
      firstBlobPointer: firstBlobPointer + BigInt(from),
    };
    encoder.begin(group.events);
    const columns = COLUMNS.map((column) => writeChunk(file, column, to - from, pagesOf(column, group, encoder)));
    // The pages are written before the next row group overwrites them.
    file.write();
    groups.push({ columns, num_rows: BigInt(to - from), total_byte_size: BigInt(file.offset - start) });
  }
  for (const piece of parquetFooter({ name: 'events', columns: COLUMNS, groups }, file.offset)) {
    file.put(piece);
  }
  file.write();
}

function pagesOf({ name, repetition_type }: ParquetColumn, { zones, firstBlobPointer }: SegmentRows, encoder: ColumnEncoder): ColumnPages {
  switch (name as EventColumnName) {
    case 'seq':
      return encoder.sequences();
    case 'timestamp':
      return encoder.timestamps();
    case 'shieldZoneId':
      return { ...encoder.values('shieldZoneId'), bounds: { min_value: zones[0] as number, max_value: zones.at(-1) as number } };
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
    file.put(pageHeader(page, dictionary.bytes.length));
    file.put(dictionary.bytes);
  }
  const dataStart = file.offset;
  file.put(pageHeader(dataPage(rows, encoding), data.length));
  file.put(data);
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
