import { MAX_REJECTED } from '../../../ingest/upload/intake-report.ts';
import { NEWLINE } from '../../../query/json-bytes.ts';

/** Whole lines of a followed file or stream that are to be sent. */
export interface LineBatch {
  /** Can be read several times. */
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The lines before it. */
  readonly linesBefore: number;
  readonly lines: number;
  /** The offset behind it. */
  readonly end: number;
}

/** A batch is at most so long, unless a single line is longer. */
export const MAX_LINE_BATCH_BYTES = 8 * 1024 * 1024;

/** The whole lines at the beginning, at most as many as an upload may have rejected: each of them may be. */
export function wholeLines(bytes: Buffer): Buffer {
  let end = 0;
  for (let lines = 0; lines < MAX_REJECTED; lines += 1) {
    const newline = bytes.indexOf(NEWLINE, end);
    if (newline < 0) break;
    end = newline + 1;
  }
  return bytes.subarray(0, end);
}

/** A file or stream whose lines are sent as they come. */
export interface LineSource {
  /** How messages name it. */
  readonly name: string;
  /** Whether nothing more can come, and all was accepted. */
  readonly isDone: boolean;
  /** Looks what has become of a file, so that none of several that have the name in a short time is missed while the program is away. */
  look(): Promise<void>;
  /** The next lines that are to be sent; null where there are none at present. */
  next(): Promise<LineBatch | null>;
  /** Notes that the batch of the last `next` was accepted. It may be called again after it has failed. */
  accepted(): Promise<void>;
  /** Says how far it was sent. */
  position(): Promise<string>;
  close(): Promise<void>;
}
