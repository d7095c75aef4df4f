import { eventsRelation } from '../sql/events-relation.ts';
import { dropTableStatement } from '../sql/journal-statements.ts';
import { rowsInOrder, sealingRows, sealingTableStatement, writeBundleStatement } from '../sql/segment-statements.ts';
import type { Bundle } from './bundle.ts';
import { runStatement } from './duckdb-engine.ts';
import { packIngestTimes } from './feed-ingest-times.ts';
import type { ClosedGeneration } from './loader.ts';
import { removeFiles, writeWhole } from './published-file.ts';
import { HOUR_MS, planSeal } from './segment-plan.ts';
import { type RewriteOptions, rewriteAsSegments } from './segment-rewrite.ts';

/** The events that are being sealed, without their logs, where they become several segments. There is one seal at a time. */
const SEALING_TABLE = 'sealing';

/**
 * Turns hot tables into one bundle with their logs and into segments with everything else, and publishes all of it in one step. When this rejects,
 * everything is as it was.
 */
export async function sealGeneration({ generation, progress }: ClosedGeneration, options: RewriteOptions): Promise<void> {
  const { connection, segmentsFolder, now } = options;
  const { sealedJournal, nextSequence } = progress;
  const hotEvents = eventsRelation(generation.tables, [], nextSequence);
  const stem = `j${sealedJournal}-${now().toString(36)}`;
  const bundleFile = `${stem}-log.parquet`;
  try {
    const bytes = await writeWhole(connection, segmentsFolder, bundleFile, (path) => writeBundleStatement(hotEvents, path));
    const [firstJournal] = generation.journals;
    const bundle: Bundle = {
      number: sealedJournal,
      file: bundleFile,
      rows: generation.events,
      bytes,
      minSequence: firstJournal?.firstSequence ?? 0n,
      maxSequence: nextSequence - 1n,
      textBytes: generation.journalBytes,
      ingestTimes: packIngestTimes(generation.journals.map(({ firstSequence, ingestedAtMs }) => ({ firstSequence, atMs: ingestedAtMs }))),
    };
    await rewriteAsSegments(
      {
        stem,
        events: hotEvents,
        rows: async (segments) => {
          if (segments === 1) {
            return rowsInOrder(hotEvents, sealedJournal);
          }
          await runStatement(connection, sealingTableStatement(SEALING_TABLE, hotEvents));
          return sealingRows(SEALING_TABLE, sealedJournal);
        },
        hotTables: generation.tables,
        segments: [],
        slabMs: HOUR_MS,
        plan: planSeal,
        // Journals may hold nothing but expired events and positions.
        ...(generation.events > 0 && { bundle }),
        progress,
      },
      options,
    );
  } catch (error) {
    await removeFiles(segmentsFolder, [{ file: bundleFile }]);
    throw error;
  } finally {
    await runStatement(connection, dropTableStatement(SEALING_TABLE));
  }
}
