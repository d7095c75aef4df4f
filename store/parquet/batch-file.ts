import { type ColumnMetaData, parquetMetadata, type RowGroup } from 'hyparquet';
import {
  BATCH_COLUMNS,
  type BatchColumn,
  columnIndex,
  type FieldColumns,
  HAS_UPPERCASE_OR_NON_ASCII_BIT,
  MASK_BYTES,
} from '../../query/batch-columns.ts';
import { NEWLINE } from '../../query/json-bytes.ts';
import { JOURNAL_COLUMNS } from '../../sql/columns.ts';
import { VECTOR_COLUMN_BYTES } from '../../sql/segment-layout.ts';
import {
  bytesColumn,
  dataPage,
  LENGTH_BYTES,
  PARQUET_MAGIC,
  type ParquetColumn,
  pageHeader,
  parquetColumn,
  parquetFooter,
} from './parquet-format.ts';
import { type FittingRows, splitByBytes } from './row-groups.ts';

interface FileColumn {
  readonly element: ParquetColumn;
  /** The content of the only page: the definition levels, unless all events have a value, and the values. */
  readonly content: readonly Uint8Array[];
}

/** The column of the packed logs, in files that have them. */
export const LOG_COLUMN = 'packed';

/**
 * Returns the fields of a batch as a Parquet file, in pieces. It has one row group, or more where a vector would have too many bytes of a
 * column. The columns are those of `JOURNAL_COLUMNS`; `seq` counts up from `firstSequence`. Nothing is compressed, because the file is
 * read from memory until its events are flushed. With `logs`, those of an `EventBatch`, it has a further column {@link LOG_COLUMN}.
 * Returns no pieces where there are no events.
 */
export function batchFileOf(fields: FieldColumns, eventCount: number, firstSequence: bigint, logs?: readonly Uint8Array[]): Uint8Array[] {
  if (eventCount === 0) {
    return [];
  }
  const masks = allMasks(fields.masks, eventCount);
  const every = masks.reduce((left, right) => left & right);
  const pieces: Uint8Array[] = [PARQUET_MAGIC];
  let offset = PARQUET_MAGIC.length;
  let elements: ParquetColumn[] = [];
  const lines = logs && linesOf(logs, eventCount);
  const groups = eventGroups(fields.values, masks).map((group): RowGroup => {
    const start = offset;
    const rows = group.masks.length;
    const columns = columnsOf(group, every, firstSequence + BigInt(group.from));
    if (lines !== undefined) {
      columns.push({ element: bytesColumn(LOG_COLUMN), content: plainBytes(lines.slice(group.from, group.from + rows)) });
    }
    elements = columns.map(({ element }) => element);
    const chunks = columns.map(({ element, content }) => {
      const chunkStart = offset;
      const bytes = lengthOf(content);
      const header = pageHeader(dataPage(rows, 'PLAIN'), bytes);
      pieces.push(header);
      for (const piece of content) pieces.push(piece);
      offset += header.length + bytes;
      return columnChunk(element, rows, chunkStart, offset - chunkStart);
    });
    return { columns: chunks, total_byte_size: BigInt(offset - start), num_rows: BigInt(rows) };
  });
  pieces.push(...parquetFooter({ name: 'events', columns: elements, groups }, offset));
  return pieces;
}

/** At least the bytes of the largest column of a batch. */
export function widestColumnOf({ values }: FieldColumns): number {
  return Math.max(...values.map(lengthOf));
}

/** At least the bytes of the largest column of a journal's file, and not many more. */
export function widestColumnIn(file: Uint8Array): number {
  const bytes = new Map<string, number>();
  for (const { meta_data: chunk } of parquetMetadata(file).row_groups.flatMap(({ columns }) => columns)) {
    const name = chunk?.path_in_schema.join() ?? '';
    bytes.set(name, (bytes.get(name) ?? 0) + Number(chunk?.total_uncompressed_size ?? 0));
  }
  return Math.max(0, ...bytes.values());
}

/** The events of a row group. */
interface EventGroup {
  /** The index of the first one in the batch. */
  readonly from: number;
  readonly masks: Uint32Array;
  /** As `FieldColumns` has them. */
  readonly values: FieldColumns['values'];
}

/** The row groups of a batch. No value is looked at where no column has enough bytes for a second one. */
function eventGroups(values: FieldColumns['values'], masks: Uint32Array): EventGroup[] {
  const wide = BATCH_COLUMNS.flatMap(({ type }, index) => {
    const chunks = values[index] ?? [];
    return type === 'text' && lengthOf(chunks) > VECTOR_COLUMN_BYTES ? [endsOfTexts(chunks, masks, index)] : [];
  });
  const ranges = wide.length === 0 ? [] : splitByBytes([0, masks.length], fittingIn(wide));
  if (ranges.length <= 1) {
    return [{ from: 0, masks, values }];
  }
  const columns = BATCH_COLUMNS.map(({ type }, index) => {
    const chunks = values[index] ?? [];
    const ends = type === 'text' || type === 'bytes' ? endsOfTexts(chunks, masks, index) : endsOfNumbers(NUMBER_BYTES[type], masks, index);
    return { bytes: Buffer.concat(chunks), ends };
  });
  return ranges.map(([from, to]) => ({
    from,
    masks: masks.subarray(from, to),
    values: columns.map(({ bytes, ends }) => [bytes.subarray(endBefore(ends, from), endBefore(ends, to))]),
  }));
}

/** The ends of the values of a column, in bytes: for each event the end of its own, or of the one before where it has none. */
type ValueEnds = Uint32Array;

/** The end of the values of all events before this one. */
function endBefore(ends: ValueEnds, event: number): number {
  return event === 0 ? 0 : (ends[event - 1] as number);
}

function fittingIn(columns: readonly ValueEnds[]): FittingRows {
  return (from, to) =>
    columns.reduce((end, ends) => {
      const start = endBefore(ends, from);
      let row = from + 1;
      while (row < end && (ends[row] as number) - start <= VECTOR_COLUMN_BYTES) {
        row += 1;
      }
      return row;
    }, to);
}

const NUMBER_BYTES = { int32: 4, int64: 8, uint64: 8 } as const;

function endsOfNumbers(size: number, masks: Uint32Array, index: number): ValueEnds {
  let end = 0;
  return masks.map((mask) => {
    end += ((mask >>> index) & 1) * size;
    return end;
  });
}

/** The ends of texts or bytes, each of which follows its length, and may go on in the next chunk. */
function endsOfTexts(chunks: readonly Uint8Array[], masks: Uint32Array, index: number): ValueEnds {
  let [end, chunk, at] = [0, 0, 0];
  const nextByte = (): number => {
    while (at >= (chunks[chunk]?.length ?? Number.POSITIVE_INFINITY)) {
      at -= chunks[chunk]?.length ?? 0;
      chunk += 1;
    }
    at += 1;
    return chunks[chunk]?.[at - 1] ?? 0;
  };
  return masks.map((mask) => {
    if ((mask >>> index) & 1) {
      const length = nextByte() + nextByte() * 2 ** 8 + nextByte() * 2 ** 16 + nextByte() * 2 ** 24;
      at += length;
      end += LENGTH_BYTES + length;
    }
    return end;
  });
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

/** The columns of a row group; `every` has the bits of the columns that all events of the file have. */
function columnsOf({ values, masks }: EventGroup, every: number, firstSequence: bigint): FileColumn[] {
  const any = masks.reduce((left, right) => left | right);
  return JOURNAL_COLUMNS.map((column): FileColumn => {
    switch (column.name) {
      case 'seq':
        return { element: parquetColumn(column), content: [sequences(masks.length, firstSequence)] };
      case 'unfolded':
        return { element: parquetColumn(column), content: [packedBits(masks, HAS_UPPERCASE_OR_NON_ASCII_BIT)] };
    }
    const index = columnIndex(column.name as BatchColumn);
    const chunks = values[index] ?? [];
    if (every & (1 << index)) {
      return { element: parquetColumn(column, true), content: chunks };
    }
    const levels = any & (1 << index) ? packedLevels(masks, index) : noLevels(masks.length);
    return { element: parquetColumn(column), content: [levels, ...chunks] };
  });
}

/** The lines without their newlines. A line is never spread over two chunks. Throws where they are not as many as the events. */
function linesOf(logs: readonly Uint8Array[], eventCount: number): Buffer[] {
  const lines: Buffer[] = [];
  for (const chunk of logs) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
  }
  if (lines.length !== eventCount) {
    throw new Error(`a batch of ${eventCount} events has ${lines.length} logs`);
  }
  return lines;
}

/** Each after its length. */
function plainBytes(values: readonly Buffer[]): Uint8Array[] {
  const bytes = Buffer.allocUnsafe(values.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  let at = 0;
  for (const value of values) {
    at = bytes.writeUInt32LE(value.length, at);
    at += value.copy(bytes, at);
  }
  return [bytes];
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
