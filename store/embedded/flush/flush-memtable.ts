import type { BlobFileWriter } from '../blob/blob-file-writer.ts';
import type { ImmutableMemtable } from '../memtable/loader.ts';
import { removeFiles, writeWhole } from '../runtime/published-file.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { packIngestTimes } from '../snapshot/feed-ingest-times.ts';
import { sourcesOf } from '../snapshot/growing-segment.ts';
import type { FieldsWriter } from './fields-writer.ts';
import type { FieldsOrder, FlushedFields } from './flushed-fields.ts';
import { publishSegments, type RewriteOptions } from './segment-rewrite.ts';

export interface FlushOptions extends RewriteOptions {
  readonly fields: FieldsWriter;
  readonly blobFiles: BlobFileWriter;
}

/** How a flush keeps in step with those before and behind it. */
export interface FlushTurn {
  /** Resolves when the one before it is published; rejects when it is not: then this one is not either. */
  readonly before: Promise<void>;
  /** Called when the segments are written and only the logs are left to be, which is when the next one may begin. */
  readonly onFieldsWritten: () => void;
}

/** Journals may hold nothing but expired events and source offsets. */
const NO_FIELDS: FlushedFields = { segments: [], rows: new Float64Array() };

/**
 * Turns a memtable into segments and one blob file with their logs, and publishes all of it in one step. When this rejects, everything is
 * as it was.
 */
export async function flushMemtable(closed: ImmutableMemtable, turn: FlushTurn, options: FlushOptions): Promise<void> {
  const { fields, aliases, now } = options;
  const { segmentsFolder } = aliases;
  const { memtable, progress } = closed;
  const stem = `j${progress.flushedJournal}-${now().toString(36)}`;
  const blobFileName = `${stem}-log.parquet`;
  const isEmpty = memtable.events === 0;
  const { segments, rows } = isEmpty ? NO_FIELDS : await aliases.withOriginalPaths(fields.write(fieldsOrder(closed, stem, segmentsFolder)));
  try {
    turn.onFieldsWritten();
    const blobFile = isEmpty ? undefined : await writeLogs(closed, rows, blobFileName, options);
    await turn.before;
    publishSegments({ written: segments, growingSegments: memtable.parts, segments: [], blobFile, progress }, options);
  } catch (error) {
    await removeFiles(segmentsFolder, [...segments, { file: blobFileName }]);
    throw error;
  }
}

function fieldsOrder({ memtable, progress }: ImmutableMemtable, stem: string, segmentsFolder: string): FieldsOrder {
  return {
    segmentsFolder,
    stem,
    sources: sourcesOf(memtable.parts.filter(({ events }) => events > 0)),
    events: memtable.events,
    blobFile: progress.flushedJournal,
    firstSequence: memtable.table.logs.firstSequence,
    endSequence: progress.nextSequence,
  };
}

async function writeLogs(
  { memtable, progress }: ImmutableMemtable,
  rows: Float64Array,
  file: string,
  { blobFiles, aliases }: FlushOptions,
): Promise<BlobFile> {
  const logs = memtable.table.logs.slices;
  const bytes = await writeWhole(aliases.segmentsFolder, file, (path) => blobFiles.write({ path, logs, rows }));
  const [firstJournal] = memtable.journals;
  return {
    number: progress.flushedJournal,
    file,
    rows: memtable.events,
    bytes,
    minSequence: firstJournal?.firstSequence ?? 0n,
    maxSequence: progress.nextSequence - 1n,
    textBytes: memtable.journalBytes,
    ingestTimes: packIngestTimes(memtable.journals.map(({ firstSequence, ingestedAtMs }) => ({ firstSequence, atMs: ingestedAtMs }))),
  };
}
