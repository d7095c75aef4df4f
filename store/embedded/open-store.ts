import { folderCheckOf, prepareDataFolder } from '../data-folder.ts';
import { silentLogger } from '../event-store.ts';
import { memoryShares } from '../memory-shares.ts';
import { openCatalog } from './catalog/open-catalog.ts';
import { partsUnderCheck } from './check/running-check.ts';
import { openEngine, SPILL_LIMITS_OF_MEMORY } from './duckdb/duckdb-engine.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { SegmentChecks } from './integrity/segment-checks.ts';
import { openReadPath } from './read-path.ts';
import { returnWholeSegments } from './repair/returning-segments.ts';
import { Closing } from './runtime/closing.ts';
import type { Segment } from './segment/segment.ts';
import { containDamage, isJournalDamaged } from './snapshot/damage-containment.ts';
import { PartRemover } from './snapshot/part-remover.ts';
import { readFooters } from './snapshot/segment-footers.ts';
import { VersionSet } from './snapshot/version-set.ts';
import type { StoreOptions, StoreTuning } from './store-options.ts';
import { openWritePath } from './write-path.ts';

export type OpenStore = EmbeddedStore;

/**
 * Opens the event store in a folder and brings it to where it was: what a crash left half done is removed, and the events that were on
 * disk but not in a segment are searchable again when this resolves. Where it fails, everything that is open by then is closed.
 * Throws `StoreError`: `folder_in_use`, `folder_unusable`, `corrupt`.
 */
export async function openEmbeddedStore(options: StoreOptions, tuning: StoreTuning = {}): Promise<OpenStore> {
  const { memoryLimitMb, now, logger = silentLogger, onFatal = () => undefined } = options;
  const folder = prepareDataFolder(options.dataDir);
  const closing = new Closing();
  try {
    const durable = await openCatalog(folder, { now, logger, onInDoubt: onFatal }, closing);
    const engine = await openEngine(
      {
        memoryLimitMb: memoryShares(memoryLimitMb).searchesShareMb,
        segmentsFolder: folder.segments,
        linksFolder: folder.links,
        spillFolder: folder.spill,
        spillLimitMb: SPILL_LIMITS_OF_MEMORY * memoryLimitMb,
        logger,
        onFatal,
      },
      closing,
    );

    const { catalog, journalFolder } = durable;
    const remover = new PartRemover(await engine.connect(), engine.aliases, journalFolder, logger);
    closing.add('the files that are being removed', () => remover.idle());
    const { nextSequence } = catalog.progress();
    const published = { segments: catalog.segments(), blobFiles: catalog.blobFiles() };
    const versions = new VersionSet(published, nextSequence, (part) => remover.remove(part));

    const containment = { segmentsFolder: folder.segments, catalog, versions, logger };
    const contain = (segment: Segment, fault: string) => containDamage(segment, fault, containment);
    const flushing: { now?: () => Promise<void> } = {};
    const containJournals = async () => {
      const isOne = await isJournalDamaged(versions.growingSegments, checks);
      // A flush leaves out what is damaged.
      await (isOne ? flushing.now?.() : undefined);
      return isOne && flushing.now !== undefined;
    };
    const checks: SegmentChecks = new SegmentChecks({ segmentsFolder: folder.segments, contain, containJournals });
    closing.add('the threads that check files', () => checks.close());
    if (versions.damaged.length > 0) {
      await returnWholeSegments({ runner: await engine.connect(), aliases: engine.aliases, checks, catalog, versions, now, logger });
    }
    const faults = new Map(durable.missing.map(({ segment, fault }) => [segment.id, fault]));
    for (const segment of versions.segments.filter(({ id }) => faults.has(id))) {
      contain(segment, faults.get(segment.id) ?? '');
    }

    const reading = await openReadPath({ engine, versions, checks, remover }, options, tuning, closing);
    const writing = await openWritePath({ folder, durable, engine, versions, checks, remover }, options, tuning, closing);
    flushing.now = () => writing.backgroundJobs.flushNow();
    const { footersShareMb: shareMb } = memoryShares(memoryLimitMb);
    await readFooters({ versions, aliases: engine.aliases, checks, connections: reading.searchers, shareMb, logger });
    const checkFolder = folderCheckOf(folder);
    const checkedParts = () => partsUnderCheck({ folder, catalog, journalFolder, versions, checks });
    return new EmbeddedStore({
      ...engine,
      ...reading,
      ...writing,
      versions,
      checks,
      storeId: catalog.storeId(),
      epochs: catalog.epochs,
      checkFolder,
      checkedParts,
      closing,
      now,
    });
  } catch (error) {
    await closing.close();
    throw error;
  }
}
