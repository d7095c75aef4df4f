import type { ColumnMetaData, RowGroup } from 'hyparquet';
import {
  type BatchColumn,
  columnIndex,
  type FieldColumns,
  HAS_UPPERCASE_OR_NON_ASCII_BIT,
  MASK_BYTES,
} from '../../../query/batch-columns.ts';
import { JOURNAL_COLUMNS } from '../../../sql/columns.ts';
import {
  dataPage,
  LENGTH_BYTES,
  PARQUET_MAGIC,
  type ParquetColumn,
  pageHeader,
  parquetColumn,
  parquetFooter,
} from '../parquet/parquet-format.ts';

interface FileColumn {
  readonly element: ParquetColumn;
  /** The content of the only page: the definition levels, unless all events have a value, and the values. */
  readonly content: readonly Uint8Array[];
}

/**
 * Returns the fields of a batch as a Parquet file of one row group, in pieces. The columns are those of `JOURNAL_COLUMNS`; `seq` counts up
 * from `firstSequence`. Nothing is compressed, because the file is read from memory until its events are flushed. Returns no pieces where
 * there are no events.
 */
export function journalFileOf(fields: FieldColumns, eventCount: number, firstSequence: bigint): Uint8Array[] {
  if (eventCount === 0) {
    return [];
  }
  const columns = columnsOf(fields, eventCount, firstSequence);
  const pieces: Uint8Array[] = [PARQUET_MAGIC];
  let offset = PARQUET_MAGIC.length;
  const chunks = columns.map(({ element, content }) => {
    const start = offset;
    const bytes = lengthOf(content);
    const header = pageHeader(dataPage(eventCount, 'PLAIN'), bytes);
    pieces.push(header);
    for (const piece of content) pieces.push(piece);
    offset += header.length + bytes;
    return columnChunk(element, eventCount, start, offset - start);
  });
  const group = { columns: chunks, total_byte_size: BigInt(offset), num_rows: BigInt(eventCount) };
  const content = { name: 'events', columns: columns.map(({ element }) => element), groups: [group] };
  pieces.push(...parquetFooter(content, offset));
  return pieces;
}

function columnChunk(element: FileColumn['element'], rows: number, start: number, bytes: number): RowGroup['columns'][number] {
  const metadata: ColumnMetaData = {
    type: element.type,
    encodings: ['PLAIN', 'RLE'],
    path_in_schema: [element.name],
    codec: 'UNCOMPRESSED',
    num_values: BigInt(rows),
    total_uncompressed_size: BigInt(bytes),
    total_compressed_size: BigInt(bytes),
    data_page_offset: BigInt(start),
  };
  return { file_offset: BigInt(start), meta_data: metadata };
}

function columnsOf({ values, masks }: FieldColumns, eventCount: number, firstSequence: bigint): FileColumn[] {
  const bits = allMasks(masks, eventCount);
  const [every, any] = [bits.reduce((left, right) => left & right), bits.reduce((left, right) => left | right)];
  return JOURNAL_COLUMNS.map((column): FileColumn => {
    switch (column.name) {
      case 'seq':
        return { element: parquetColumn(column), content: [sequences(eventCount, firstSequence)] };
      case 'unfolded':
        return { element: parquetColumn(column), content: [packedBits(bits, HAS_UPPERCASE_OR_NON_ASCII_BIT)] };
    }
    const index = columnIndex(column.name as BatchColumn);
    const chunks = values[index] ?? [];
    if (every & (1 << index)) {
      return { element: parquetColumn(column, true), content: chunks };
    }
    const levels = any & (1 << index) ? packedLevels(bits, index) : noLevels(eventCount);
    return { element: parquetColumn(column), content: [levels, ...chunks] };
  });
}

function allMasks(chunks: readonly Uint8Array[], eventCount: number): Uint32Array {
  const masks = new Uint32Array(eventCount);
  const bytes = Buffer.concat(chunks, eventCount * MASK_BYTES);
  new Uint8Array(masks.buffer).set(bytes);
  return masks;
}

function sequences(count: number, first: bigint): Uint8Array {
  const numbers = new BigInt64Array(count);
  for (let index = 0, sequence = first; index < count; index += 1, sequence += 1n) {
    numbers[index] = sequence;
  }
  return new Uint8Array(numbers.buffer);
}

/** Packs one bit of each mask, eight to a byte, the first one lowest. */
function packedBits(masks: Uint32Array, bit: number): Buffer {
  const packed = Buffer.alloc(Math.ceil(masks.length / 8));
  for (let index = 0; index < masks.length; index += 1) {
    const byte = index >> 3;
    packed[byte] = (packed[byte] as number) | ((((masks[index] as number) >>> bit) & 1) << (index & 7));
  }
  return packed;
}

/** Definition levels as one run of groups of eight bits. */
function packedLevels(masks: Uint32Array, bit: number): Buffer {
  const packed = packedBits(masks, bit);
  return levelsOf(varint(packed.length * 2 + 1), packed);
}

/** Definition levels as one run of zeros. */
function noLevels(count: number): Buffer {
  return levelsOf(varint(count * 2), Buffer.alloc(1));
}

function levelsOf(header: Buffer, run: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(header.length + run.length);
  return Buffer.concat([length, header, run]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) {
    bytes.push((left % 0x80) | 0x80);
  }
  return Buffer.from([...bytes, left]);
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
