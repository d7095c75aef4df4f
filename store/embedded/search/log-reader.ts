import { logRow } from '../../../sql/segment-statements.ts';
import { readBlobFileRows } from '../blob/blob-file-reader.ts';
import { blobFileWithNumber } from '../segment/blob-file.ts';
import { logOfGrowing } from '../snapshot/growing-segment.ts';
import type { ScopeSource } from './search-scope.ts';

/** So many blob files are read at the same time. Reading one is mostly waiting for the disk. */
const BLOB_FILES_AT_ONCE = 4;

/** What logs are read from. */
type LogSource = Pick<ScopeSource, 'snapshot' | 'aliases' | 'signal'>;

/**
 * Reads the packed logs of events by their blob pointers. Undefined where they have more than `maxBytes` together. Rejects with
 * `StoreError` (`corrupt`) where a log is missing.
 */
export async function readLogs(
  source: LogSource,
  blobPointers: readonly bigint[],
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer[] | undefined> {
  const logs = new Array<Buffer>(blobPointers.length);
  let bytes = 0;
  const keep = (index: number, log: Buffer) => {
    bytes += log.length;
    if (bytes <= maxBytes) {
      logs[index] = Buffer.from(log);
    }
  };
  for (const [index, blobPointer] of blobPointers.entries()) {
    if (blobPointer < 0n) {
      keep(index, logOfGrowing(source.snapshot.growingSegments, -blobPointer));
    }
  }
  await readFlushedLogs(blobPointers, source, {
    isWanted: (index) => bytes <= maxBytes && (blobPointers[index] as bigint) >= 0n,
    take: keep,
  });
  return bytes > maxBytes ? undefined : logs;
}

/** Receives the logs of flushed events, each with its index in the list of blob pointers. */
interface LogTaker {
  /** Asked before the blob file of an event is read. */
  readonly isWanted: (index: number) => boolean;
  /** Called in no order. The bytes belong to a larger buffer that is used again, so a taker that keeps them has to copy them. */
  readonly take: (index: number, log: Buffer) => void;
}

/**
 * Reads the packed log of each wanted blob pointer, some blob files at a time. No pointer occurs twice. Rejects with `StoreError`
 * (`corrupt`) where a log is missing.
 */
export async function readFlushedLogs(
  blobPointers: ArrayLike<bigint>,
  { snapshot, aliases, signal }: LogSource,
  { isWanted, take }: LogTaker,
): Promise<void> {
  const rows = new Uint32Array(blobPointers.length);
  const blobFiles = new Map<number, number[]>();
  for (let index = 0; index < blobPointers.length; index += 1) {
    if (isWanted(index)) {
      const { blobFile: number, row } = logRow(blobPointers[index] as bigint);
      rows[index] = row;
      const others = blobFiles.get(number);
      if (others === undefined) {
        blobFiles.set(number, [index]);
      } else {
        others.push(index);
      }
    }
  }
  const left = blobFiles.entries();
  const readOn = async () => {
    for (const [number, indexes] of left) {
      signal?.throwIfAborted();
      const wanted = indexes.filter(isWanted).sort((a, b) => (rows[a] as number) - (rows[b] as number));
      if (wanted.length > 0) {
        const wantedRows = Uint32Array.from(wanted, (index) => rows[index] as number);
        const blobFile = blobFileWithNumber(snapshot.blobFiles, number);
        await readBlobFileRows(blobFile, aliases.segmentsFolder, wantedRows, (nth, log) => take(wanted[nth] as number, log));
      }
    }
  };
  await Promise.all(Array.from({ length: BLOB_FILES_AT_ONCE }, readOn));
}
