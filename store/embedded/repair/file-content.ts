import { statSync } from 'node:fs';
import { join } from 'node:path';
import { segmentRows } from '../../../sql/events-relation.ts';
import { blobFilesOfStatement, wholeSegmentStatement } from '../../../sql/repair-statements.ts';
import { partitionZoneCountStatement } from '../../../sql/segment-statements.ts';
import { checkBlobFile, contentOfBlobFile } from '../blob/blob-file-reader.ts';
import { isOutOfMemory, type StatementRunner } from '../duckdb/statement-runner.ts';
import { faultOfFile } from '../integrity/changed-bytes.ts';
import { END_OF_SEQUENCE } from '../journal/journal.ts';
import { isFaultOfFile } from '../runtime/file-fault.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { nameOfLostBlobFile } from '../segment/file-names.ts';
import { spanOf, type UnpublishedSegment, zoneRowsOf } from '../segment/segment.ts';
import { blocksOf, packBlocks, rangesOf, rowsIn, unpackBlocks } from '../segment/segment-blocks.ts';
import { partitionZone } from '../segment/segment-plan.ts';
import { packIngestTimes } from '../snapshot/ingest-times.ts';

/** The events of a segment whose logs are in one blob file. */
export interface LogsOfSegment {
  readonly blobFile: number;
  readonly minSequence: bigint;
  readonly maxSequence: bigint;
  /** The highest row of the blob file that is pointed to. */
  readonly lastRow: number;
}

/** A segment that no catalog describes, as its file does. */
export interface FoundSegment {
  readonly segment: UnpublishedSegment;
  readonly logs: readonly LogsOfSegment[];
  /** When the file was written, in Unix milliseconds. */
  readonly writtenAtMs: number;
}

/** A segment that cannot be read. */
export interface UnreadableSegment {
  readonly file: string;
  readonly fault: string;
  /** As many as its footer says; undefined where that cannot be read either. */
  readonly rows: number | undefined;
  readonly bytes: number;
  /** What an earlier catalog says of it. */
  readonly known: UnpublishedSegment | undefined;
}

const AT_ANY_TIME = { minTimestamp: 0, maxTimestamp: 0 };

/** The length of a time partition that has the events of all times. */
const ALL_TIME_MS = Number.MAX_SAFE_INTEGER;

/** Reads a segment whole. `known` is what an earlier catalog says of the file, by whose checksums it is checked then. */
export async function readSegment(
  folder: string,
  file: string,
  known: UnpublishedSegment | undefined,
  runner: StatementRunner,
): Promise<FoundSegment | UnreadableSegment> {
  const path = join(folder, file);
  const { size: bytes, mtimeMs } = statSync(path);
  const unreadable = (fault: string, rows = known?.rows): UnreadableSegment => ({ file, fault, rows, bytes, known });
  try {
    const fault = known?.blocks && faultOfFile({ path, bytes: known.bytes, ranges: rangesOf(unpackBlocks(known.blocks)) });
    if (fault !== undefined) {
      return unreadable(fault);
    }
    const blocks = packBlocks(blocksOf(path));
    await runner.run(wholeSegmentStatement(path));
    const counts = (await runner.run(partitionZoneCountStatement(segmentRows([path]), ALL_TIME_MS))).map(partitionZone);
    if (counts.length === 0) {
      return unreadable('it has no events', 0);
    }
    const zoneRows = zoneRowsOf(counts.map(({ zone, events }) => [zone, events]));
    const rows = counts.reduce((sum, { events }) => sum + events, 0);
    const logs = (await runner.run(blobFilesOfStatement(path))).map(([number, first, last, lastRow]) => ({
      blobFile: Number(number),
      minSequence: first as bigint,
      maxSequence: last as bigint,
      lastRow: Number(lastRow),
    }));
    const damage = known?.damage === undefined ? {} : { damage: known.damage };
    return { segment: { file, rows, bytes, ...spanOf(counts), zoneRows, blocks, ...damage }, logs, writtenAtMs: Math.floor(mtimeMs) };
  } catch (error) {
    if (!isFaultOfFile(error) || isOutOfMemory(error)) {
      throw error;
    }
    return unreadable((error as Error).message, known?.rows ?? rowsByFooter(path));
  }
}

function rowsByFooter(path: string): number | undefined {
  try {
    return rowsIn(path);
  } catch {
    // The footer is damaged, too, so that the number of rows stays unknown.
    return undefined;
  }
}

/** A blob file to which segments point: where it is, if it is there, and what points to it. */
export interface WantedBlobFile {
  readonly number: number;
  /** Undefined where no file has the number. */
  readonly file: string | undefined;
  /** None where it is kept for segments that cannot be read. */
  readonly uses: readonly LogsOfSegment[];
  /** When the first segment that points to it was written. */
  readonly writtenAtMs: number;
}

/**
 * The row of a blob file. What an earlier catalog said is taken over; what none says is made up of the file: the time at which it was
 * written for the times at which its events came in, and its uncompressed size for that of the events in their journals.
 */
export async function readBlobFile(
  folder: string,
  { number, file, uses, writtenAtMs }: WantedBlobFile,
  known: BlobFile | undefined,
): Promise<BlobFile> {
  const anything = { minSequence: 0n, maxSequence: END_OF_SEQUENCE - 1n };
  const { minSequence, maxSequence } = uses.length === 0 ? anything : spanOf(uses.map((use) => ({ ...use, ...AT_ANY_TIME })));
  const leastRows = Math.max(0, ...uses.map(({ lastRow }) => lastRow)) + 1;
  const ingestTimes = (atMs: number) => packIngestTimes([{ firstSequence: minSequence, atMs }]);
  const empty = { number, rows: leastRows, minSequence, maxSequence, textBytes: 0, bytes: 0 };
  if (file === undefined) {
    const damage = 'it is missing';
    return { ...empty, file: nameOfLostBlobFile(number), ingestTimes: ingestTimes(writtenAtMs), damage };
  }
  const path = join(folder, file);
  const { size: bytes, mtimeMs } = statSync(path);
  if (known?.file === file && known.bytes === bytes && known.number === number) {
    const damage = await checkBlobFile(path, known);
    const { damage: _, ...row } = known;
    return { ...row, ...(damage === undefined ? {} : { damage }) };
  }
  const bare = { ...empty, file, bytes, ingestTimes: ingestTimes(Math.floor(mtimeMs)) };
  const damage = await checkBlobFile(path, bare);
  if (damage !== undefined) {
    return { ...bare, damage };
  }
  const { rows, textBytes, indexCrc32 } = await contentOfBlobFile(path);
  return rows < leastRows ? { ...bare, damage: `it has ${rows} rows instead of ${leastRows}` } : { ...bare, rows, textBytes, indexCrc32 };
}
