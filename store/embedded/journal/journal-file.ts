import type { ColumnMetaData, RowGroup } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { BATCH_COLUMNS, type FieldColumns, HAS_UPPERCASE_OR_NON_ASCII_BIT, MASK_BYTES } from '../../../query/batch-columns.ts';
import {
  HAS_UPPERCASE_OR_NON_ASCII_COLUMN,
  PARQUET_MAGIC,
  PARQUET_TYPES,
  type ParquetColumn,
  SEQUENCE_COLUMN,
} from '../parquet/parquet-column.ts';
import { parquetFooter } from '../parquet/parquet-footer.ts';

interface FileColumn {
  readonly element: ParquetColumn;
  /** Of its only page: which of the events have a value, where not all do, and the values. */
  readonly content: readonly Uint8Array[];
}

/**
 * The fields of a batch as a Parquet file of one row group, in pieces to be written one behind the other. Its columns are those of the
 * batch, `seq`, which counts up from `firstSequence`, and `unfolded`. Nothing is compressed, because nothing of it stays: it is read from
 * memory until the events are flushed. Without events there is nothing to write.
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
    const header = new ByteWriter(64);
    writePageHeader(header, {
      type: 'DATA_PAGE',
      uncompressed_page_size: bytes,
      compressed_page_size: bytes,
      data_page_header: { num_values: eventCount, encoding: 'PLAIN', definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' },
    });
    pieces.push(header.getBytes());
    for (const piece of content) pieces.push(piece);
    offset += header.offset + bytes;
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
  const ofBatch = BATCH_COLUMNS.map(({ name, type }, place): FileColumn => {
    const chunks = values[place] ?? [];
    if (every & (1 << place)) {
      return { element: { name, repetition_type: 'REQUIRED', ...PARQUET_TYPES[type] }, content: chunks };
    }
    const levels = any & (1 << place) ? packedLevels(bits, place) : noLevels(eventCount);
    return { element: { name, repetition_type: 'OPTIONAL', ...PARQUET_TYPES[type] }, content: [levels, ...chunks] };
  });
  return [
    { element: SEQUENCE_COLUMN, content: [sequences(eventCount, firstSequence)] },
    ...ofBatch,
    { element: HAS_UPPERCASE_OR_NON_ASCII_COLUMN, content: [packedBits(bits, HAS_UPPERCASE_OR_NON_ASCII_BIT)] },
  ];
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

/** One bit of each mask, eight to a byte, the first lowest. */
function packedBits(masks: Uint32Array, bit: number): Buffer {
  const packed = Buffer.alloc(Math.ceil(masks.length / 8));
  for (let index = 0; index < masks.length; index += 1) {
    const place = index >> 3;
    packed[place] = (packed[place] as number) | ((((masks[index] as number) >>> bit) & 1) << (index & 7));
  }
  return packed;
}

/** Definition levels, bit by bit: a run of groups of eight. */
function packedLevels(masks: Uint32Array, bit: number): Buffer {
  const packed = packedBits(masks, bit);
  return levelsOf(varint(packed.length * 2 + 1), packed);
}

/** A run of zeros. */
function noLevels(count: number): Buffer {
  return levelsOf(varint(count * 2), Buffer.alloc(1));
}

function levelsOf(header: Buffer, run: Buffer): Buffer {
  const length = Buffer.alloc(4);
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
