import { StoreError } from '../../store-error.ts';

/**
 * The logs of the events that were flushed together, as a Parquet file: they are most of an event's bytes and are read for the rows of an
 * answer only, so they are written once and never merged. Segments say where in which blob file the log of an event is.
 */
export interface BlobFile {
  /** That of the last journal in it. */
  readonly number: number;
  /** File name within the segments folder. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly minSequence: bigint;
  readonly maxSequence: bigint;
  /** What its events had in the journals, fields and logs. */
  readonly textBytes: number;
  /** When its events were taken in: `packIngestTimes`. */
  readonly ingestTimes: Uint8Array;
}

/** Whether any of the segments can hold an event whose log is in the blob file. */
export function isReferenced(
  { minSequence, maxSequence }: Pick<BlobFile, 'minSequence' | 'maxSequence'>,
  segments: readonly Pick<BlobFile, 'minSequence' | 'maxSequence'>[],
): boolean {
  return segments.some((segment) => segment.maxSequence >= minSequence && segment.minSequence <= maxSequence);
}

/** Throws `corrupt` where there is none. */
export function blobFileWithNumber(blobFiles: readonly BlobFile[], number: number): BlobFile {
  const found = blobFiles.find((blobFile) => blobFile.number === number);
  if (found === undefined) {
    throw new StoreError('corrupt', `blob file ${number} is not in the catalog`);
  }
  return found;
}
