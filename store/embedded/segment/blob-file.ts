import { StoreError } from '../../store-error.ts';

/**
 * A Parquet file with the logs of the events of one flush. Logs are most of an event's bytes and are read for the rows of an answer only,
 * so they are written once and never merged. Segments have the blob pointer of each event.
 */
export interface BlobFile {
  /** The number of the last journal in it. */
  readonly number: number;
  /** The file name within the segments folder. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly minSequence: bigint;
  readonly maxSequence: bigint;
  /** The bytes of its events in the journals, fields and logs. */
  readonly textBytes: number;
  /** The times at which its events were taken in, by `packIngestTimes`. */
  readonly ingestTimes: Uint8Array;
  /** The CRC-32 of what follows its pages: their index, and the footer. Absent in files of earlier versions, until they are checked. */
  readonly indexCrc32?: number;
  /** Why logs of it cannot be read; absent where all can. */
  readonly damage?: string;
}

/** Whether any of the segments can hold an event whose log is in the blob file. */
export function isReferenced(
  { minSequence, maxSequence }: Pick<BlobFile, 'minSequence' | 'maxSequence'>,
  segments: readonly Pick<BlobFile, 'minSequence' | 'maxSequence'>[],
): boolean {
  return segments.some((segment) => segment.maxSequence >= minSequence && segment.minSequence <= maxSequence);
}

/** The blob file with this number. Throws `StoreError` (`corrupt`) where there is none. */
export function blobFileWithNumber(blobFiles: readonly BlobFile[], number: number): BlobFile {
  const found = blobFiles.find((blobFile) => blobFile.number === number);
  if (found === undefined) {
    throw new StoreError('corrupt', `blob file ${number} is not in the catalog`);
  }
  return found;
}
