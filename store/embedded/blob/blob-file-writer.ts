import { constants, crc32, zstdCompressSync } from 'node:zlib';
import type { ColumnMetaData, OffsetIndex, RowGroup } from 'hyparquet';
import { WorkerPool } from '../../../work/worker-pool.ts';
import {
  type ColumnIndex,
  dataPage,
  LENGTH_BYTES,
  PARQUET_MAGIC,
  type ParquetColumn,
  pageHeader,
  parquetFooter,
} from '../../parquet/parquet-format.ts';
import { FileOutput } from '../runtime/file-output.ts';
import type { LogSlices } from './memtable-logs.ts';

/** Fewer logs are written on the calling thread: another thread takes longer to start. */
const FEW_LOGS = 2_000;

/** Reading one log decompresses a page, which takes a tenth of a millisecond. Smaller pages compress worse. */
const PAGE_BYTES = 64 * 1024;

/** Other engines read whole row groups. Each group takes some bytes at the end of the file. */
const GROUP_ROWS = 4_096;

/** Higher levels do not make logs smaller: most of the content of a log is in no other log. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: PAGE_BYTES };

const COLUMN: ParquetColumn = { name: 'log', type: 'BYTE_ARRAY', repetition_type: 'REQUIRED', converted_type: 'UTF8' };

/** A blob file to write. */
export interface BlobFileTask {
  readonly path: string;
  readonly logs: LogSlices;
  /** The index of the log of each row. */
  readonly rows: Float64Array;
}

/** Writes blob files, which are not synced. */
export type BlobFileWriter = WorkerPool<BlobFileTask, void>;

/** Files of many logs are written on a thread of its own. */
export function createBlobFileWriter(): BlobFileWriter {
  return new WorkerPool<BlobFileTask, void>({
    module: new URL('./blob-file-writer.ts', import.meta.url),
    yields: true,
    inline: { fits: ({ rows }) => rows.length < FEW_LOGS, run: writeBlobFile },
  });
}

/** The work of the thread of `BlobFileWriter`. */
export function startWork(): (task: BlobFileTask) => void {
  return writeBlobFile;
}

/**
 * Writes logs as a Parquet file of one column, `log`, which any engine can read. The pages are small, and the file says where each page is
 * (the OffsetIndex of the format), so that single rows are found quickly. Not synced. `path` is the temporary one that `writeLogs` in
 * `flush/flush-memtable.ts` has of `NewFile`.
 */
export function writeBlobFile({ path, logs, rows }: BlobFileTask): void {
  using output = new FileOutput(path);
  const file = new BlobFileOutput(output);
  // A `Buffer` copies shared memory four times as fast as other arrays do.
  const pieces = logs.pieces.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
  for (const index of rows) {
    file.add(pieces[logs.pieceOf[index] as number] as Buffer, logs.starts[index] as number, logs.ends[index] as number);
  }
  file.end();
}

class BlobFileOutput {
  readonly #output: FileOutput;
  readonly #groups: RowGroup[] = [];
  /** The uncompressed page under way. */
  #page = Buffer.allocUnsafeSlow(2 * PAGE_BYTES);
  #used = 0;
  #pageRows = 0;
  /** The row group under way. */
  #locations: OffsetIndex['page_locations'] = [];
  #groupStart = 0;
  #groupRows = 0;
  #groupBytes = 0;
  readonly #indexes: ColumnIndex[] = [];

  constructor(output: FileOutput) {
    this.#output = output;
    this.#output.put(PARQUET_MAGIC);
    this.#groupStart = this.#output.offset;
  }

  add(piece: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#makeRoom(LENGTH_BYTES + length);
    this.#page.writeUInt32LE(length, this.#used);
    piece.copy(this.#page, this.#used + LENGTH_BYTES, start, end);
    this.#used += LENGTH_BYTES + length;
    this.#pageRows += 1;
    if (this.#used >= PAGE_BYTES) {
      this.#endPage();
    }
    if (this.#groupRows + this.#pageRows === GROUP_ROWS) {
      this.#endGroup();
    }
  }

  end(): void {
    this.#endGroup();
    const content = { name: 'logs', columns: [COLUMN], groups: this.#groups, indexes: this.#indexes };
    for (const piece of parquetFooter(content, this.#output.offset)) {
      this.#output.put(piece);
    }
    this.#output.write();
  }

  #makeRoom(bytes: number): void {
    if (this.#used + bytes > this.#page.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#page.length, this.#used + bytes));
      this.#page.copy(larger, 0, 0, this.#used);
      this.#page = larger;
    }
  }

  #endPage(): void {
    if (this.#pageRows === 0) {
      return;
    }
    const body = zstdCompressSync(this.#page.subarray(0, this.#used), { ...ZSTD, pledgedSrcSize: this.#used });
    // A signed number in the format.
    const page = { ...dataPage(this.#pageRows, 'PLAIN'), crc: crc32(body) | 0 };
    const header = pageHeader(page, this.#used, body.length);
    const bytes = header.length + body.length;
    this.#locations.push({
      offset: BigInt(this.#output.offset),
      compressed_page_size: bytes,
      first_row_index: BigInt(this.#groupRows),
    });
    this.#output.put(header);
    this.#output.put(body);
    this.#groupBytes += header.length + this.#used;
    this.#groupRows += this.#pageRows;
    this.#used = 0;
    this.#pageRows = 0;
  }

  #endGroup(): void {
    this.#endPage();
    if (this.#groupRows === 0) {
      return;
    }
    const rows = BigInt(this.#groupRows);
    const bytes = BigInt(this.#groupBytes);
    const compressedBytes = BigInt(this.#output.offset - this.#groupStart);
    const metadata: ColumnMetaData = {
      type: 'BYTE_ARRAY',
      encodings: ['PLAIN'],
      path_in_schema: ['log'],
      codec: 'ZSTD',
      num_values: rows,
      total_uncompressed_size: bytes,
      total_compressed_size: compressedBytes,
      data_page_offset: BigInt(this.#groupStart),
    };
    const chunk = { file_offset: BigInt(this.#groupStart), meta_data: metadata };
    this.#groups.push({ columns: [chunk], total_byte_size: bytes, num_rows: rows, total_compressed_size: compressedBytes });
    this.#indexes.push({ chunk, offsetIndex: { page_locations: this.#locations } });
    this.#locations = [];
    this.#groupStart = this.#output.offset;
    this.#groupRows = 0;
    this.#groupBytes = 0;
  }
}
