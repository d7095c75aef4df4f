import { syncFolder } from '../../data-folder.ts';
import type { StoreLogger } from '../../event-store.ts';
import { CommitInDoubtError } from '../../sqlite-transaction.ts';
import { contentOfBlobFile } from '../blob/blob-file-reader.ts';
import type { BlobFileWriter } from '../blob/blob-file-writer.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import type { Memtable } from '../memtable/memtable.ts';
import type { ImmutableMemtable } from '../memtable/memtable-loader.ts';
import { mayPass } from '../runtime/file-fault.ts';
import { removeFiles } from '../runtime/file-output.ts';
import type { BlobFile } from '../segment/blob-file.ts';
import { blobFileName, nameOfLost, stemOfFlush } from '../segment/file-names.ts';
import { NewFile } from '../segment/new-file.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import { faultOfJournal } from '../snapshot/damage-containment.ts';
import { type GrowingSegment, sourcesOf } from '../snapshot/growing-segment.ts';
import { packIngestTimes } from '../snapshot/ingest-times.ts';
import { type PublishOptions, publishSegments } from '../snapshot/publish-segments.ts';
import type { FieldsTask, FieldsWriter, FlushedFields } from './flush-fields.ts';

export interface FlushOptions extends PublishOptions {
  readonly fields: FieldsWriter;
  readonly journals: Pick<JournalFolder, 'copyAside'>;
  readonly logger: StoreLogger;
  readonly blobFiles: BlobFileWriter;
}

/** Keeps a flush in step with the one before and the one after it. */
export interface FlushTurn {
  /** Resolves when the flush before is published. Rejects when it is not; then this flush is not published either. */
  readonly before: Promise<void>;
  /** Called when the segments are written and only the logs are left. Then the next flush may begin. */
  readonly onFieldsWritten: () => void;
  /** Called when the memtable is published. */
  readonly onPublished: () => void;
}

/** The fields of a memtable without events: its journals had expired events and source offsets only. */
const NO_FIELDS: FlushedFields = { segments: [], rows: new Float64Array() };

/**
 * Writes a memtable as segments and one blob file, and publishes them in one step. When this rejects, nothing has changed, unless with
 * CommitInDoubtError.
 */
export async function flushMemtable(closed: ImmutableMemtable, turn: FlushTurn, options: FlushOptions): Promise<void> {
  const { fields, aliases, now } = options;
  const { segmentsFolder } = aliases;
  const { memtable, progress } = closed;
  const lost = await lostParts(memtable.parts, options);
  const parts = memtable.parts.filter((part) => part.events > 0 && !lost.has(part));
  const stem = stemOfFlush(progress.flushedJournal, now());
  const logsFile = blobFileName(stem);
  const isEmpty = parts.length === 0;
  let written = NO_FIELDS;
  try {
    if (!isEmpty) {
      const findJournals = () => wholeJournals(memtable, parts, options);
      written = await fields.run(fieldsTask(closed, parts, stem, segmentsFolder), findJournals);
    }
    turn.onFieldsWritten();
    const blobFile = isEmpty ? undefined : await writeLogs(closed, written.rows, logsFile, options);
    await turn.before;
    const all = [...written.segments, ...Array.from(lost, ([part, fault]) => lostSegment(part, fault))];
    publishSegments({ written: all, growingSegments: memtable.parts, segments: [], blobFile, progress }, options);
    turn.onPublished();
  } catch (error) {
    if (!(error instanceof CommitInDoubtError)) {
      await removeFiles(segmentsFolder, [...written.segments, { file: logsFile }]);
    }
    throw aliases.withOriginalPaths(error);
  }
}

/**
 * The journals whose files are not as they were written, with what is wrong. Copies of their files are set aside. Rejects where the disk
 * does not give a file.
 */
async function lostParts(
  parts: readonly GrowingSegment[],
  { checks, journals, logger }: FlushOptions,
): Promise<Map<GrowingSegment, string>> {
  const lost = new Map<GrowingSegment, string>();
  for (const part of parts) {
    const fault = await faultOfJournal(part, checks);
    if (fault !== undefined) {
      if (mayPass(fault)) {
        // The journal has the only copy of its events, and the next attempt may be able to read it.
        throw new Error(fault);
      }
      lost.set(part, fault);
      for (const { number, atMs } of part.journals) {
        // The names of the copies depend on the journal alone, so that another attempt of the flush overwrites them.
        await journals.copyAside(number, atMs);
        logger.error({ journal: number, events: part.events, fault }, 'a journal is damaged: its events are lost, and its files set aside');
      }
    }
  }
  return lost;
}

function lostSegment(
  { events, zones, minTimestamp, maxTimestamp, journals, lastSequence }: GrowingSegment,
  damage: string,
): UnpublishedSegment {
  const [first] = journals;
  const extent = { minTimestamp, maxTimestamp, minSequence: first?.firstSequence ?? lastSequence, maxSequence: lastSequence };
  const zoneRows = new Map(Array.from(zones, (zone) => [zone, events]));
  return { file: nameOfLost(first?.number ?? 0), rows: events, bytes: 0, ...extent, zoneRows, damage };
}

function fieldsTask(
  { memtable, progress }: ImmutableMemtable,
  parts: readonly GrowingSegment[],
  stem: string,
  segmentsFolder: string,
): FieldsTask {
  return {
    segmentsFolder,
    stem,
    sources: sourcesOf(parts),
    events: parts.reduce((sum, { events }) => sum + events, 0),
    blobFile: progress.flushedJournal,
    firstSequence: memtable.table.logs.firstSequence,
    endSequence: progress.nextSequence,
  };
}

/** The files of the journals of these parts; undefined where one is not as it was written. */
async function wholeJournals(
  { journals }: Memtable,
  parts: readonly GrowingSegment[],
  { checks }: FlushOptions,
): Promise<string[] | undefined> {
  const numbers = new Set(parts.flatMap((part) => part.journals.map(({ number }) => number)));
  const paths: string[] = [];
  for (const { number, hasFiles, path, content } of journals) {
    if (hasFiles && content !== undefined && numbers.has(number)) {
      if ((await faultOfJournal({ source: { path }, content }, checks)) !== undefined) {
        return undefined;
      }
      paths.push(path);
    }
  }
  return paths;
}

async function writeLogs(
  { memtable, progress }: ImmutableMemtable,
  rows: Float64Array,
  file: string,
  { blobFiles, aliases }: FlushOptions,
): Promise<BlobFile> {
  const logs = memtable.table.logs.slices;
  await using blobFile = new NewFile(aliases.segmentsFolder, file);
  await blobFiles.run({ path: blobFile.temporaryPath, logs, rows });
  const { indexCrc32 } = await contentOfBlobFile(blobFile.temporaryPath);
  const bytes = await blobFile.keep();
  await syncFolder(aliases.segmentsFolder);
  const [firstJournal] = memtable.journals;
  return {
    number: progress.flushedJournal,
    file,
    rows: rows.length,
    bytes,
    minSequence: firstJournal?.firstSequence ?? 0n,
    maxSequence: progress.nextSequence - 1n,
    textBytes: memtable.journalBytes,
    indexCrc32,
    ingestTimes: packIngestTimes(memtable.journals.map(({ firstSequence, ingestedAtMs }) => ({ firstSequence, atMs: ingestedAtMs }))),
  };
}
