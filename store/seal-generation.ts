import type { Bundle } from './bundle.ts';
import type { BundleWriter } from './bundle-writer.ts';
import { packIngestTimes } from './feed-ingest-times.ts';
import type { FieldsWriter } from './fields-writer.ts';
import { sourcesOf } from './hot-part.ts';
import type { ClosedGeneration } from './loader.ts';
import { removeFiles, writeWhole } from './published-file.ts';
import type { FieldsOrder, SealedFields } from './sealed-fields.ts';
import { publishSegments, type RewriteOptions } from './segment-rewrite.ts';

export interface SealOptions extends RewriteOptions {
  readonly fields: FieldsWriter;
  readonly bundles: BundleWriter;
}

/** How a seal keeps in step with those before and behind it. */
export interface SealTurn {
  /** Resolves when the one before it is published; rejects when it is not: then this one is not either. */
  readonly before: Promise<void>;
  /** Called when the segments are written and only the logs are left to be, which is when the next one may begin. */
  readonly onFieldsWritten: () => void;
}

/** Journals may hold nothing but expired events and positions. */
const NO_FIELDS: SealedFields = { segments: [], rows: new Float64Array() };

/**
 * Turns hot parts into segments and one bundle with their logs, and publishes all of it in one step. When this rejects, everything is as it was.
 */
export async function sealGeneration(closed: ClosedGeneration, turn: SealTurn, options: SealOptions): Promise<void> {
  const { fields, aliases, now } = options;
  const { segmentsFolder } = aliases;
  const { generation, progress } = closed;
  const stem = `j${progress.sealedJournal}-${now().toString(36)}`;
  const bundleFile = `${stem}-log.parquet`;
  const isEmpty = generation.events === 0;
  const { segments, rows } = isEmpty ? NO_FIELDS : await aliases.withOriginalPaths(fields.write(fieldsOrder(closed, stem, segmentsFolder)));
  try {
    turn.onFieldsWritten();
    const bundle = isEmpty ? undefined : await writeBundle(closed, rows, bundleFile, options);
    await turn.before;
    publishSegments({ written: segments, hotParts: generation.parts, segments: [], bundle, progress }, options);
  } catch (error) {
    await removeFiles(segmentsFolder, [...segments, { file: bundleFile }]);
    throw error;
  }
}

function fieldsOrder({ generation, progress }: ClosedGeneration, stem: string, segmentsFolder: string): FieldsOrder {
  return {
    segmentsFolder,
    stem,
    sources: sourcesOf(generation.parts.filter(({ events }) => events > 0)),
    events: generation.events,
    bundle: progress.sealedJournal,
    firstSequence: generation.collecting.logs.firstSequence,
    endSequence: progress.nextSequence,
  };
}

async function writeBundle(
  { generation, progress }: ClosedGeneration,
  rows: Float64Array,
  file: string,
  { bundles, aliases }: SealOptions,
): Promise<Bundle> {
  const logs = generation.collecting.logs.places;
  const bytes = await writeWhole(aliases.segmentsFolder, file, (path) => bundles.write({ path, logs, rows }));
  const [firstJournal] = generation.journals;
  return {
    number: progress.sealedJournal,
    file,
    rows: generation.events,
    bytes,
    minSequence: firstJournal?.firstSequence ?? 0n,
    maxSequence: progress.nextSequence - 1n,
    textBytes: generation.journalBytes,
    ingestTimes: packIngestTimes(generation.journals.map(({ firstSequence, ingestedAtMs }) => ({ firstSequence, atMs: ingestedAtMs }))),
  };
}
