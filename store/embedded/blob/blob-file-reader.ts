import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, zstdDecompressSync } from 'node:zlib';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { StoreError } from '../../store-error.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { type BlobPage, readAt, readBlobFileIndex } from './blob-file-index.ts';
import { LENGTH_BYTES } from './write-blob-file.ts';

/** Pages that are read at the same time. */
const PAGES_AT_ONCE = 8;

/** Where the pages are, of those blob files that were read before. */
const INDEXES = new WeakMap<BlobFile, readonly BlobPage[]>();

/** A page, and which of the wanted rows are in it. */
interface WantedPage extends BlobPage {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

type TakeLog = (nth: number, log: Buffer) => void;

/**
 * Reads the packed logs in these rows of a blob file, which are ascending, and hands them to `take` in no order, with the place of its row
 * in the list. Their bytes are those of a whole page: whoever keeps them copies them. Rejects with `StoreError` (`corrupt`) where the file
 * does not hold them.
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

/** The number of the page that has the row. */
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

/**
 * The values of a page. They are decompressed here, in a tenth of a millisecond: to have a thread of Node's pool do it takes this one as
 * long.
 */
async function readPage(file: FileHandle, { offset, bytes }: BlobPage): Promise<Buffer> {
  const page = await readAt(file, offset, bytes);
  const header = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: 0 };
  // Numbered as in the format's PageHeader.
  const { field_2: size, field_4: checksum } = deserializeTCompactProtocol(header);
  const body = page.subarray(header.offset);
  if ((crc32(body) | 0) !== checksum) {
    throw new Error(`the page at byte ${offset} is not as it was written`);
  }
  // Room that is filled to its last byte is doubled.
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
