import { join } from 'node:path';
import { journalRows } from '../sql/events-relation.ts';
import { dropTableStatement } from '../sql/journal-statements.ts';
import {
  placesInSegmentsStatement,
  placesInTableStatement,
  sealingRows,
  sealingTableStatement,
  sliceInOrder,
} from '../sql/segment-statements.ts';
import type { Bundle } from './bundle.ts';
import type { BundleWriter } from './bundle-writer.ts';
import { runForNumbers, runStatement } from './duckdb-engine.ts';
import { packIngestTimes } from './feed-ingest-times.ts';
import { sourcesOf } from './hot-part.ts';
import type { ClosedGeneration } from './loader.ts';
import { removeFiles, writeWhole } from './published-file.ts';
import type { UnpublishedSegment } from './segment.ts';
import { HOUR_MS, planSeal } from './segment-plan.ts';
import { type RewriteOptions, rewriteAsSegments } from './segment-rewrite.ts';

/** Into so many segments the events are sorted straight from the journals, which are read for each of them. A table between takes longer to make. */
const FEW_SEGMENTS = 2;

/** The events that are being sealed, in order, where they become more segments. One seal at a time writes segments. */
const SEALING_TABLE = 'sealing';

export interface SealOptions extends RewriteOptions {
  readonly bundles: BundleWriter;
}

/** How a seal keeps in step with those before and behind it. */
export interface SealTurn {
  /** Resolves when the one before it is published; rejects when it is not: then this one is not either. */
  readonly before: Promise<void>;
  /** Called when the segments are written and only the logs are left to be, which is when the next one may begin. */
  readonly onFieldsWritten: () => void;
}

/**
 * Turns hot parts into segments and one bundle with their logs, and publishes all of it in one step. When this rejects, everything is as it was.
 */
export async function sealGeneration({ generation, progress }: ClosedGeneration, turn: SealTurn, options: SealOptions): Promise<void> {
  const { connection, bundles, segmentsFolder, now } = options;
  const { sealedJournal, nextSequence } = progress;
  const hotRows = journalRows(sourcesOf(generation.parts), [], nextSequence);
  const stem = `j${sealedJournal}-${now().toString(36)}`;
  const bundleFile = `${stem}-log.parquet`;
  const { logs } = generation.collecting;
  const writeBundle = async (rows: Float64Array): Promise<Bundle> => {
    const bytes = await writeWhole(segmentsFolder, bundleFile, (path) => bundles.write({ path, logs: logs.places, rows }));
    const [firstJournal] = generation.journals;
    return {
      number: sealedJournal,
      file: bundleFile,
      rows: generation.events,
      bytes,
      minSequence: firstJournal?.firstSequence ?? 0n,
      maxSequence: nextSequence - 1n,
      textBytes: generation.journalBytes,
      ingestTimes: packIngestTimes(generation.journals.map(({ firstSequence, ingestedAtMs }) => ({ firstSequence, atMs: ingestedAtMs }))),
    };
  };
  // From then on the connection is the next one's.
  let fieldsWritten = false;
  try {
    await rewriteAsSegments(
      {
        stem,
        events: hotRows,
        rows: async (segments) => {
          if (segments <= FEW_SEGMENTS) {
            return (slice, first) => sliceInOrder(hotRows, slice, sealedJournal, first);
          }
          await runStatement(connection, sealingTableStatement(SEALING_TABLE, hotRows));
          return () => sealingRows(SEALING_TABLE, sealedJournal);
        },
        hotParts: generation.parts,
        segments: [],
        slabMs: HOUR_MS,
        plan: planSeal,
        finish: async (written) => {
          // Journals may hold nothing but expired events and positions.
          const rows = generation.events > 0 ? await placesOf(written, logs.firstSequence, options) : undefined;
          await runStatement(connection, dropTableStatement(SEALING_TABLE));
          fieldsWritten = true;
          turn.onFieldsWritten();
          const bundle = rows && (await writeBundle(rows));
          await turn.before;
          return bundle;
        },
        progress,
      },
      options,
    );
  } catch (error) {
    if (!fieldsWritten) {
      await runStatement(connection, dropTableStatement(SEALING_TABLE));
    }
    await removeFiles(segmentsFolder, [{ file: bundleFile }]);
    throw error;
  }
}

/** The places of the events' logs among those from `firstSequence` on, in the order of the segments' rows. */
async function placesOf(
  written: readonly UnpublishedSegment[],
  firstSequence: bigint,
  { connection, segmentsFolder }: SealOptions,
): Promise<Float64Array> {
  const statement =
    written.length <= FEW_SEGMENTS
      ? placesInSegmentsStatement(
          written.map(({ file }) => join(segmentsFolder, file)),
          firstSequence,
        )
      : placesInTableStatement(SEALING_TABLE, firstSequence);
  const [places = new Float64Array()] = await runForNumbers(connection, statement);
  return places;
}
