import { fstatSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { type ColumnMetaData, type FileMetaData, parquetMetadata } from 'hyparquet';
import type { ZoneSelection } from '../../../query/plan/search-plan.ts';
import { VECTOR_ROWS } from '../../../sql/segment-layout.ts';
import { LENGTH_BYTES, PARQUET_MAGIC } from '../../parquet/parquet-format.ts';
import { openedFile } from '../runtime/file-output.ts';
import type { Segment } from './segment.ts';

/** A part of a file from the end of the block before it, or from its start, to `end`. The blocks of a file cover all of its bytes. */
export interface Block {
  /** The offset behind it. */
  readonly end: number;
  readonly crc32: number;
  /** The last zone that has events in the block. The zones of a segment ascend, so its first zone is at least that of the block before. */
  readonly lastZone: number;
}

/** A part of a file that has to have this checksum. */
export interface FileRange {
  readonly from: number;
  /** The offset behind it. */
  readonly to: number;
  readonly crc32: number;
}

/** A block in the catalog: its end as a double, its checksum, and its last zone. */
const BLOCK_BYTES = 16;

export function packBlocks(blocks: readonly Block[]): Uint8Array {
  const bytes = new Uint8Array(blocks.length * BLOCK_BYTES);
  const view = new DataView(bytes.buffer);
  for (const [index, { end, crc32: checksum, lastZone }] of blocks.entries()) {
    view.setFloat64(index * BLOCK_BYTES, end, true);
    view.setUint32(index * BLOCK_BYTES + 8, checksum, true);
    view.setInt32(index * BLOCK_BYTES + 12, lastZone, true);
  }
  return bytes;
}

/** Undefined: those of a segment that an earlier version wrote, which noted none. */
export function unpackBlocks(packed: Uint8Array = new Uint8Array()): Block[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: packed.byteLength / BLOCK_BYTES }, (_, index) => ({
    end: view.getFloat64(index * BLOCK_BYTES, true),
    crc32: view.getUint32(index * BLOCK_BYTES + 8, true),
    lastZone: view.getInt32(index * BLOCK_BYTES + 12, true),
  }));
}

/**
 * Whether many row groups of a segment ended early, because their rows have long texts. Others have at least 1,638 rows on average, beside
 * the last one.
 */
export function hasShortRowGroups({ rows, blocks }: Pick<Segment, 'rows' | 'blocks'>): boolean {
  const groups = (blocks?.byteLength ?? 0) / BLOCK_BYTES - 1;
  return groups > 1 + rows / (VECTOR_ROWS / 2);
}

/** Where blocks are in their file, and their checksums. */
export function rangesOf(blocks: readonly Block[]): FileRange[] {
  return blocks.map(({ end, crc32: checksum }, index) => ({ from: blocks[index - 1]?.end ?? 0, to: end, crc32: checksum }));
}

/** The indexes of the blocks that a statement about these zones reads: the row groups that can hold them, and the last one, the footer. */
export function blocksOfZones(blocks: readonly Block[], zones: ZoneSelection): number[] {
  const footer = blocks.length - 1;
  const isRead = (index: number): boolean => {
    const [before, { lastZone }] = [blocks[index - 1]?.lastZone ?? Number.NEGATIVE_INFINITY, blocks[index] as Block];
    return index === footer || zones === 'all' || zones.some((zone) => before <= zone && zone <= lastZone);
  };
  return [...blocks.keys()].filter(isRead);
}

/**
 * The blocks of a segment's file: each of its row groups, and what follows them, its filters and its footer. A file whose zones do not
 * ascend, or whose footer does not say what they are, has all of its row groups in one block.
 */
export function blocksOf(path: string): Block[] {
  using file = openedFile(path);
  const { metadata, bytes } = readFooter(file.descriptor, path);
  const blocks: Block[] = [];
  for (const { end, lastZone } of [...rowGroupsOf(metadata), { end: bytes, lastZone: 0 }]) {
    blocks.push({ end, lastZone, crc32: checksumOf(file.descriptor, { from: blocks.at(-1)?.end ?? 0, to: end }) ?? 0 });
  }
  return blocks;
}

/** The number of rows of a segment, as its footer says. */
export function rowsIn(path: string): number {
  using file = openedFile(path);
  return Number(readFooter(file.descriptor, path).metadata.num_rows);
}

/**
 * What is not as it should be in a file of so many bytes; undefined where all of the ranges are. Throws what the system says where the file
 * cannot be read.
 */
export function changeIn(path: string, bytes: number, ranges: readonly FileRange[]): string | undefined {
  using file = openedFile(path);
  const { size } = fstatSync(file.descriptor);
  if (size !== bytes) {
    return `it has ${size} bytes instead of ${bytes}`;
  }
  const changed = ranges.find((range) => checksumOf(file.descriptor, range) !== range.crc32);
  return changed && `its bytes from ${changed.from} to ${changed.to} are not as they were written`;
}

/** Measured: larger pieces do not stay in the caches of a core, and smaller ones cost more calls. */
const READ_BYTES = 256 * 1024;

let buffer: Buffer | undefined;

/** The checksum of a part of a file; undefined where the file ends before the part does. */
function checksumOf(file: number, { from, to }: Omit<FileRange, 'crc32'>): number | undefined {
  buffer ??= Buffer.allocUnsafeSlow(READ_BYTES);
  let checksum = 0;
  for (let at = from; at < to; ) {
    const read = readSync(file, buffer, 0, Math.min(READ_BYTES, to - at), at);
    if (read === 0) {
      return undefined;
    }
    checksum = crc32(buffer.subarray(0, read), checksum);
    at += read;
  }
  return checksum;
}

/** The file ends with the length of its footer and the format's mark. */
const TAIL_BYTES = LENGTH_BYTES + PARQUET_MAGIC.length;

function readFooter(file: number, path: string): { readonly metadata: FileMetaData; readonly bytes: number } {
  const { size: bytes } = fstatSync(file);
  const tail = readBetween(file, bytes - TAIL_BYTES, bytes);
  const footer = readBetween(file, bytes - TAIL_BYTES - tail.readUInt32LE(0), bytes);
  try {
    return { metadata: parquetMetadata(footer), bytes };
  } catch (error) {
    throw new Error(`the footer of ${JSON.stringify(path)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function readBetween(file: number, from: number, to: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(to - from);
  for (let done = 0; done < bytes.length; ) {
    const read = readSync(file, bytes, done, bytes.length - done, from + done);
    if (read === 0) {
      throw new Error(`it ends before byte ${to}`);
    }
    done += read;
  }
  return bytes;
}

/** The ends of the row groups, and their last zones. */
function rowGroupsOf({ row_groups: groups }: FileMetaData): Omit<Block, 'crc32'>[] {
  const found = groups.map(({ columns }) => {
    const chunks = columns.flatMap(({ meta_data: chunk }) => (chunk === undefined ? [] : [chunk]));
    const starts = chunks.map(({ dictionary_page_offset, data_page_offset }) => Number(dictionary_page_offset ?? data_page_offset));
    const ends = chunks.map(({ total_compressed_size }, index) => (starts[index] as number) + Number(total_compressed_size));
    const { min_value: firstZone, max_value: lastZone } = chunks.find(isOfZones)?.statistics ?? {};
    return { start: Math.min(...starts), end: Math.max(...ends), firstZone, lastZone };
  });
  const areInOrder = found.every(({ start, firstZone, lastZone }, index) => {
    const before = found[index - 1];
    const isAscending = typeof firstZone === 'number' && typeof lastZone === 'number';
    return isAscending && (before === undefined || (start >= before.end && firstZone >= Number(before.lastZone)));
  });
  const all = { end: Math.max(0, ...found.map(({ end }) => end)), lastZone: MAX_ZONE };
  return areInOrder ? found.map(({ end, lastZone }) => ({ end, lastZone: Number(lastZone) })) : [all];
}

function isOfZones({ path_in_schema: [name] }: ColumnMetaData): boolean {
  return name === 'shieldZoneId';
}

const MAX_ZONE = 2 ** 31 - 1;
