import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, zstdDecompressSync } from 'node:zlib';
import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { readOffsetIndex } from 'hyparquet/src/indexes.js';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { LENGTH_BYTES, PARQUET_MAGIC } from '../../parquet/parquet-format.ts';
import { isFaultOfFile } from '../runtime/file-fault.ts';
import type { BlobFile } from '../segment/blob-file.ts';

/** A page of a blob file, which is read and decompressed as a whole. */
interface BlobPage {
  readonly firstRow: number;
  readonly offset: number;
  readonly bytes: number;
}

/** The file ends with the length of its metadata and the format's mark. */
const TAIL_BYTES = LENGTH_BYTES + PARQUET_MAGIC.length;

interface BlobFileIndex {
  readonly pages: readonly BlobPage[];
  /** The CRC-32 of the index and the footer. */
  readonly indexCrc32: number;
  readonly rows: number;
  /** The bytes of its pages before they are compressed. */
  readonly textBytes: number;
}

/** Reads where the pages of a blob file are, in the order of their rows. */
async function readBlobFileIndex(file: FileHandle, fileBytes: number): Promise<BlobFileIndex> {
  const tail = await readAt(file, fileBytes - TAIL_BYTES, TAIL_BYTES);
  const metadataAt = fileBytes - TAIL_BYTES - tail.readUInt32LE(0);
  const footer = await readAt(file, metadataAt, fileBytes - metadataAt);
  const { row_groups: groups } = metadataIn(footer);
  const indexesAt = Math.min(...groups.map(({ columns: [column] }) => Number(column?.offset_index_offset ?? metadataAt)));
  const indexes = await readAt(file, indexesAt, metadataAt - indexesAt);
  const { pages, rows } = pagesOfGroups(groups, indexes, indexesAt);
  const textBytes = groups.reduce((sum, { total_byte_size: bytes }) => sum + Number(bytes), 0);
  return { pages, indexCrc32: crc32(footer, crc32(indexes)), rows, textBytes };
}

function metadataIn(footer: Buffer): FileMetaData {
  try {
    return parquetMetadata(footer);
  } catch (error) {
    throw new Error(`its footer cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function pagesOfGroups(groups: FileMetaData['row_groups'], indexes: Buffer, indexesAt: number): { pages: BlobPage[]; rows: number } {
  const view = new DataView(indexes.buffer, indexes.byteOffset, indexes.byteLength);
  let firstRow = 0;
  try {
    const pages = groups.flatMap((group) => {
      const groupRow = firstRow;
      firstRow += Number(group.num_rows);
      return pagesOf(group, view, indexesAt).map((page) => ({ ...page, firstRow: groupRow + page.firstRow }));
    });
    return { pages, rows: firstRow };
  } catch (error) {
    throw new Error(`its index cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** What a blob file says of itself. */
export async function contentOfBlobFile(path: string): Promise<BlobFileIndex> {
  await using file = await open(path, 'r');
  return await readBlobFileIndex(file, (await file.stat()).size);
}

/** The pages of a row group. `firstRow` counts from the start of the group. */
function pagesOf({ columns: [column] }: FileMetaData['row_groups'][number], indexes: DataView, indexesAt: number): BlobPage[] {
  if (column?.offset_index_offset !== undefined) {
    const { page_locations: locations } = readOffsetIndex({ view: indexes, offset: Number(column.offset_index_offset) - indexesAt });
    return locations.map(({ offset, compressed_page_size, first_row_index }) => ({
      firstRow: Number(first_row_index),
      offset: Number(offset),
      bytes: compressed_page_size,
    }));
  }
  // A row group of one page has no index.
  const { data_page_offset: offset = 0n, total_compressed_size: bytes = 0n } = column?.meta_data ?? {};
  return [{ firstRow: 0, offset: Number(offset), bytes: Number(bytes) }];
}

/** Rejects where the file ends before the last byte. */
async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, offset + done);
    if (bytesRead === 0) {
      throw new Error(`it ends before byte ${offset + length}`);
    }
    done += bytesRead;
  }
  return bytes;
}

/** Number of pages that are read at the same time. */
const PAGES_AT_ONCE = 8;

/** The pages of the blob files that were read before. */
const INDEXES = new WeakMap<BlobFile, readonly BlobPage[]>();

/** A page with wanted rows. `from` and `to` are indices in the list of the wanted rows. */
interface WantedPage extends BlobPage {
  readonly from: number;
  /** The end of its rows, exclusive. */
  readonly to: number;
}

type TakeLog = (nth: number, log: Buffer) => void;

/** What stands for a log that is damaged. */
const NO_LOG = Buffer.from('{}');

/** What is wrong with the blob files of which a log could not be read. */
const FAULTS = new WeakMap<BlobFile, string>();

/** Why logs of a blob file could not be read; undefined where all that were read could. */
export function faultOfBlobFile(blobFile: BlobFile): string | undefined {
  return FAULTS.get(blobFile);
}

/**
 * Reads the packed logs of these rows, which are ascending. Calls `take` in no order, with the index of the row in `rows` and the log,
 * which is an empty object where it is damaged or missing. The bytes of a log share the memory of a whole page, so a caller copies what it
 * keeps. Rejects with what the system says where that is not the file's own fault.
 */
export async function readBlobFileRows(blobFile: BlobFile, segmentsFolder: string, rows: Uint32Array, take: TakeLog): Promise<void> {
  const opened = await orFault(() => open(join(segmentsFolder, blobFile.file), 'r'));
  if (opened instanceof LogFault) {
    takeNone(blobFile, opened, { from: 0, to: rows.length }, take);
    return;
  }
  await using file = opened;
  const pages = await orFault(() => pagesIn(file, blobFile));
  if (pages instanceof LogFault) {
    takeNone(blobFile, pages, { from: 0, to: rows.length }, take);
  } else {
    await readPages(file, blobFile, wantedPages(pages, rows), rows, take);
  }
}

/** Why logs cannot be read. */
class LogFault {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Reads once more where the first read fails by the file's own fault. Rejects where a read fails for another reason. */
async function orFault<T>(read: () => Promise<T>): Promise<T | LogFault> {
  let fault = await orFaultAtOnce(read);
  if (fault instanceof LogFault) {
    fault = await orFaultAtOnce(read);
  }
  return fault;
}

async function orFaultAtOnce<T>(read: () => Promise<T>): Promise<T | LogFault> {
  try {
    return await read();
  } catch (error) {
    if (!isFaultOfFile(error)) {
      throw error;
    }
    return new LogFault((error as Error).message);
  }
}

function takeNone(blobFile: BlobFile, { message }: LogFault, { from, to }: Pick<WantedPage, 'from' | 'to'>, take: TakeLog): void {
  FAULTS.set(blobFile, message);
  for (let nth = from; nth < to; nth += 1) {
    take(nth, NO_LOG);
  }
}

async function pagesIn(file: FileHandle, blobFile: BlobFile): Promise<readonly BlobPage[]> {
  const known = INDEXES.get(blobFile);
  if (known !== undefined) {
    return known;
  }
  const pages = await checkedPages(file, blobFile);
  INDEXES.set(blobFile, pages);
  return pages;
}

/** Reads the index of a blob file. Rejects where it is not as it was written. */
async function checkedPages(file: FileHandle, { bytes, indexCrc32 }: BlobFile): Promise<readonly BlobPage[]> {
  const { pages, indexCrc32: found } = await readBlobFileIndex(file, bytes);
  if (indexCrc32 !== undefined && indexCrc32 !== found) {
    throw new Error('its index is not as it was written');
  }
  return pages;
}

function wantedPages(pages: readonly BlobPage[], rows: Uint32Array): WantedPage[] {
  const wanted: WantedPage[] = [];
  for (let at = 0; at < rows.length; ) {
    const number = pageOf(pages, rows[at] as number);
    const page = pages[number] as BlobPage;
    const end = pages[number + 1]?.firstRow ?? Number.POSITIVE_INFINITY;
    const from = at;
    while (at < rows.length && (rows[at] as number) < end) {
      at += 1;
    }
    wanted.push({ ...page, from, to: at });
  }
  return wanted;
}

/** The index of the page that has the row. */
function pageOf(pages: readonly BlobPage[], row: number): number {
  let [low, high] = [0, pages.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((pages[middle] as BlobPage).firstRow <= row) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

async function readPages(
  file: FileHandle,
  blobFile: BlobFile,
  pages: readonly WantedPage[],
  rows: Uint32Array,
  take: TakeLog,
): Promise<void> {
  const left = pages.values();
  const readOn = async () => {
    for (const page of left) {
      const values = await orFault(() => readPage(file, page));
      if (values instanceof LogFault) {
        takeNone(blobFile, values, page, take);
      } else {
        takeRows(values, page, rows, take);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PAGES_AT_ONCE, pages.length) }, readOn));
}

/** What is wrong with a blob file, all of which is read; undefined where nothing is. */
export async function checkBlobFile(path: string, blobFile: BlobFile): Promise<string | undefined> {
  const fault = await orFault(async () => {
    await using file = await open(path, 'r');
    for (const page of await checkedPages(file, blobFile)) {
      await readBody(file, page);
    }
  });
  if (fault instanceof LogFault) {
    return fault.message;
  }
  FAULTS.delete(blobFile);
  return undefined;
}

/** Reads and decompresses a page on this thread in a tenth of a millisecond; to hand it to a thread of Node's pool would take as long. */
async function readPage(file: FileHandle, page: BlobPage): Promise<Buffer> {
  const { body, size } = await readBody(file, page);
  // Node doubles a buffer that is filled to its last byte.
  return zstdDecompressSync(body, { chunkSize: Math.max(64, size + 1) });
}

/** Reads the compressed values of a page. Rejects where they are not as they were written. */
async function readBody(file: FileHandle, { offset, bytes }: BlobPage): Promise<{ readonly body: Buffer; readonly size: number }> {
  const page = await readAt(file, offset, bytes);
  const header = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: 0 };
  // The fields are numbered as in the format's PageHeader.
  const { field_2: size, field_4: checksum } = deserializeTCompactProtocol(header);
  const body = page.subarray(header.offset);
  if ((crc32(body) | 0) !== checksum) {
    throw new Error(`the page at byte ${offset} is not as it was written`);
  }
  return { body, size: size as number };
}

function takeRows(values: Buffer, { firstRow, from, to }: WantedPage, rows: Uint32Array, take: TakeLog): void {
  let [row, at] = [firstRow, 0];
  for (let nth = from; nth < to; nth += 1) {
    for (; row < (rows[nth] as number); row += 1) {
      at += LENGTH_BYTES + values.readUInt32LE(at);
    }
    const start = at + LENGTH_BYTES;
    take(nth, values.subarray(start, start + values.readUInt32LE(at)));
  }
}
