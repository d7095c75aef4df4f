import { logRow } from '../../../sql/segment-statements.ts';
import { readBlobFileRows } from '../blob/blob-file-reader.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import type { SearchScope } from './search-scope.ts';

/** So many blob files are read at the same time: most of it is waiting. */
const BLOB_FILES_AT_ONCE = 4;

/**
 * The packed logs of events, by their blob pointer. Undefined where they have more bytes than `maxBytes` together.
 * Rejects with `StoreError` (`corrupt`) where one is not there.
 */
export async function readLogs(
  scope: SearchScope,
  blobPointers: readonly bigint[],
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<string[] | undefined> {
  const logs = new Array<string>(blobPointers.length);
  let bytes = 0;
  const keep = (index: number, log: Buffer) => {
    bytes += log.length;
    logs[index] = bytes > maxBytes ? '' : log.toString();
  };
  const flushed: { readonly index: number; readonly blobPointer: bigint }[] = [];
  for (const [index, blobPointer] of blobPointers.entries()) {
    if (blobPointer < 0n) {
      keep(index, scope.growingLog(-blobPointer));
    } else {
      flushed.push({ index, blobPointer });
    }
  }
  const source = {
    blobFile: (number: number) => scope.blobFile(number),
    segmentsFolder: scope.aliases.segmentsFolder,
    signal: scope.signal,
  };
  await readFlushedLogs(flushed, source, {
    isWanted: () => bytes <= maxBytes,
    take: ({ index }, log) => keep(index, log),
  });
  return bytes > maxBytes ? undefined : logs;
}

/** Where the logs of flushed events are read from. */
export interface FlushedLogs {
  /** Throws `corrupt` where there is none. */
  readonly blobFile: (number: number) => BlobFile;
  readonly segmentsFolder: string;
  readonly signal: AbortSignal | undefined;
}

/** Who gets the logs of flushed events. */
export interface LogTaker<Event> {
  /** Asked before the blob file of an event is read. */
  readonly isWanted: (event: Event) => boolean;
  /** Called in no order. The bytes are those of a whole page: whoever keeps them copies them. */
  readonly take: (event: Event, log: Buffer) => void;
}

/** Reads the packed log of each of the flushed events, whose blob pointers differ, some blob files at a time. Rejects with `StoreError` (`corrupt`) where one is not there. */
export async function readFlushedLogs<Event extends { readonly blobPointer: bigint }>(
  events: readonly Event[],
  { blobFile, segmentsFolder, signal }: FlushedLogs,
  { isWanted, take }: LogTaker<Event>,
): Promise<void> {
  const blobFiles = [...Map.groupBy(events, ({ blobPointer }) => logRow(blobPointer).blobFile)].values();
  const readOn = async () => {
    for (const [number, all] of blobFiles) {
      signal?.throwIfAborted();
      const eventOf = new Map(all.filter(isWanted).map((event) => [logRow(event.blobPointer).row, event]));
      if (eventOf.size > 0) {
        const ascending = [...eventOf.keys()].sort((a, b) => a - b);
        await readBlobFileRows(blobFile(number), segmentsFolder, ascending, (row, log) => take(eventOf.get(row) as Event, log));
      }
    }
  };
  await Promise.all(Array.from({ length: BLOB_FILES_AT_ONCE }, readOn));
}
