import type { DuckDBConnection } from '@duckdb/node-api';
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

export interface SealOptions extends RewriteOptions {
  /** Writes the logs, while `connection` writes the segments. */
  readonly logConnection: DuckDBConnection;
}

/**
 * Turns hot tables into one bundle with their logs and into segments with everything else, and publishes all of it in one step. When this rejects,
 * everything is as it was.
 */
export async function sealGeneration({ generation, progress }: ClosedGeneration, options: SealOptions): Promise<void> {
  const { connection, logConnection, segmentsFolder, now } = options;
  const { sealedJournal, nextSequence } = progress;
  const hotEvents = eventsRelation(generation.tables, [], nextSequence);
  const stem = `j${sealedJournal}-${now().toString(36)}`;
  const bundleFile = `${stem}-log.parquet`;
  const writeBundle = async (): Promise<Bundle> => {
    const bytes = await writeWhole(logConnection, segmentsFolder, bundleFile, (path) => writeBundleStatement(hotEvents, path));
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
  // Journals may hold nothing but expired events and positions.
  const bundle = generation.events > 0 ? writeBundle() : undefined;
  // It may fail before the segments are written; whoever waits for it then is told.
  bundle?.catch(() => {});
  try {
    await rewriteAsSegments(
      {
        stem,
        events: hotEvents,
        rows: async (segments) => {
          if (segments <= 1) {
            return rowsInOrder(hotEvents, sealedJournal);
          }
          await runStatement(connection, sealingTableStatement(SEALING_TABLE, hotEvents));
          return sealingRows(SEALING_TABLE, sealedJournal);
        },
        hotTables: generation.tables,
        segments: [],
        slabMs: HOUR_MS,
        plan: planSeal,
        ...(bundle && { bundle }),
        progress,
      },
      options,
    );
  } catch (error) {
    await Promise.allSettled([bundle]);
    await removeFiles(segmentsFolder, [{ file: bundleFile }]);
    throw error;
  } finally {
    await runStatement(connection, dropTableStatement(SEALING_TABLE));
  }
}
