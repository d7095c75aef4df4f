import type { FileHandle } from 'node:fs/promises';
import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { readOffsetIndex } from 'hyparquet/src/indexes.js';

/** A part of a blob file that is read and decompressed as one. */
export interface BlobPage {
  readonly firstRow: number;
  readonly offset: number;
  readonly bytes: number;
}

/** The length of the metadata, and the format's mark. */
const TAIL_BYTES = 8;

/** The pages of a blob file of so many bytes, in the order of their rows. */
export async function readBlobFileIndex(file: FileHandle, fileBytes: number): Promise<BlobPage[]> {
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

/** The pages of a row group, by its own rows. */
function pagesOf({ columns: [column] }: FileMetaData['row_groups'][number], indexes: DataView, indexesAt: number): BlobPage[] {
  if (column?.offset_index_offset !== undefined) {
    const { page_locations: locations } = readOffsetIndex({ view: indexes, offset: Number(column.offset_index_offset) - indexesAt });
    return locations.map(({ offset, compressed_page_size, first_row_index }) => ({
      firstRow: Number(first_row_index),
      offset: Number(offset),
      bytes: compressed_page_size,
    }));
  }
  // A single page needs no index.
  const { data_page_offset: offset = 0n, total_compressed_size: bytes = 0n } = column?.meta_data ?? {};
  return [{ firstRow: 0, offset: Number(offset), bytes: Number(bytes) }];
}

/** Rejects where the file ends before. */
export async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
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
