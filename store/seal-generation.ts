import { eventsRelation } from '../sql/events-relation.ts';
import type { SqlFragment } from '../sql/fragment.ts';
import { dropTableStatement } from '../sql/journal-statements.ts';
import { rowsInOrder, sealedOrderStatement, sealingRows, sealingTableStatement } from '../sql/segment-statements.ts';
import type { Bundle } from './bundle.ts';
import type { BundleWriter } from './bundle-writer.ts';
import { boundTo, runStatement } from './duckdb-engine.ts';
import { packIngestTimes } from './feed-ingest-times.ts';
import type { ClosedGeneration } from './loader.ts';
import { removeFiles, writeWhole } from './published-file.ts';
import { HOUR_MS, planSeal } from './segment-plan.ts';
import { type RewriteOptions, rewriteAsSegments } from './segment-rewrite.ts';

/** The events that are being sealed, without their logs, where they become several segments. There is one seal at a time. */
const SEALING_TABLE = 'sealing';

export interface SealOptions extends RewriteOptions {
  /** Writes the logs, while `connection` writes the segments. */
  readonly bundles: BundleWriter;
}

/**
 * Turns hot tables into one bundle with their logs and into segments with everything else, and publishes all of it in one step. When this rejects,
 * everything is as it was.
 */
export async function sealGeneration({ generation, progress }: ClosedGeneration, options: SealOptions): Promise<void> {
  const { connection, bundles, segmentsFolder, now } = options;
  const { sealedJournal, nextSequence } = progress;
  const hotEvents = eventsRelation(generation.tables, [], nextSequence);
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
  // Journals may hold nothing but expired events and positions.
  const bundle = generation.events > 0 ? writeBundle(await orderOf(hotEvents, logs.firstSequence, options)) : undefined;
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

/** The places of the events' logs among those from `firstSequence` on, in the order of the segments' rows. */
async function orderOf(events: SqlFragment, firstSequence: bigint, { connection }: SealOptions): Promise<Float64Array> {
  const statement = sealedOrderStatement(events, firstSequence);
  const [places = []] = (await connection.runAndReadAll(statement.text, ...boundTo(statement))).getColumns();
  return Float64Array.from(places as number[]);
}
