import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, zstdDecompressSync } from 'node:zlib';
import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { readOffsetIndex } from 'hyparquet/src/indexes.js';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { StoreError } from '../../event-store.ts';
import { LENGTH_BYTES, PARQUET_MAGIC } from '../parquet/parquet-format.ts';
import type { BlobFile } from '../segment/blob-file.ts';

/** A page of a blob file, which is read and decompressed as a whole. */
interface BlobPage {
  readonly firstRow: number;
  readonly offset: number;
  readonly bytes: number;
}

/** The file ends with the length of its metadata and the format's mark. */
const TAIL_BYTES = LENGTH_BYTES + PARQUET_MAGIC.length;

/** Reads where the pages of a blob file are, in the order of their rows. */
async function readBlobFileIndex(file: FileHandle, fileBytes: number): Promise<BlobPage[]> {
  const tail = await readAt(file, fileBytes - TAIL_BYTES, TAIL_BYTES);
  const metadataAt = fileBytes - TAIL_BYTES - tail.readUInt32LE(0);
  const { row_groups: groups } = parquetMetadata(await readAt(file, metadataAt, fileBytes - metadataAt));
  const indexesAt = Math.min(...groups.map(({ columns: [column] }) => Number(column?.offset_index_offset ?? metadataAt)));
  const indexes = await readAt(file, indexesAt, metadataAt - indexesAt);
  const view = new DataView(indexes.buffer, indexes.byteOffset, indexes.byteLength);
  let firstRow = 0;
  return groups.flatMap((group) => {
    const groupRow = firstRow;
    firstRow += Number(group.num_rows);
    return pagesOf(group, view, indexesAt).map((page) => ({ ...page, firstRow: groupRow + page.firstRow }));
  });
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
  /** Exclusive. */
  readonly to: number;
}

type TakeLog = (nth: number, log: Buffer) => void;

/**
 * Reads the packed logs of these rows, which are ascending. Calls `take` in no order, with the index of the row in `rows` and the log. The
 * bytes of a log share the memory of a whole page, so a caller copies what it keeps. Rejects with `StoreError` (`corrupt`) where the file
 * does not hold the logs.
 */
export async function readBlobFileRows(blobFile: BlobFile, segmentsFolder: string, rows: Uint32Array, take: TakeLog): Promise<void> {
  const path = join(segmentsFolder, blobFile.file);
  try {
    const file = await open(path, 'r');
    try {
      await readPages(file, await wantedPages(file, blobFile, rows), rows, take);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new StoreError('corrupt', `blob file ${JSON.stringify(path)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

async function wantedPages(file: FileHandle, blobFile: BlobFile, rows: Uint32Array): Promise<WantedPage[]> {
  const pages = INDEXES.get(blobFile) ?? (await readBlobFileIndex(file, blobFile.bytes));
  INDEXES.set(blobFile, pages);
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

async function readPages(file: FileHandle, pages: readonly WantedPage[], rows: Uint32Array, take: TakeLog): Promise<void> {
  const left = pages.values();
  const readOn = async () => {
    for (const page of left) {
      takeRows(await readPage(file, page), page, rows, take);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PAGES_AT_ONCE, pages.length) }, readOn));
}

/** Reads and decompresses a page on this thread, in a tenth of a millisecond. Handing it to a thread of Node's pool takes as long. */
async function readPage(file: FileHandle, { offset, bytes }: BlobPage): Promise<Buffer> {
  const page = await readAt(file, offset, bytes);
  const header = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: 0 };
  // The fields are numbered as in the format's PageHeader.
  const { field_2: size, field_4: checksum } = deserializeTCompactProtocol(header);
  const body = page.subarray(header.offset);
  if ((crc32(body) | 0) !== checksum) {
    throw new Error(`the page at byte ${offset} is not as it was written`);
  }
  // Node doubles a buffer that is filled to its last byte.
  return zstdDecompressSync(body, { chunkSize: Math.max(64, (size as number) + 1) });
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
