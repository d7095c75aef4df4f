import { folderCheckOf, prepareDataFolder } from '../data-folder.ts';
import { silentLogger } from '../event-store.ts';
import { openCatalog } from './catalog/open-catalog.ts';
import { openEngine } from './duckdb/duckdb-engine.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { openReadPath } from './read-path.ts';
import { Closing } from './runtime/closing.ts';
import { PartRemover } from './snapshot/part-remover.ts';
import { VersionSet } from './snapshot/version-set.ts';
import type { StoreOptions, StoreTuning } from './store-options.ts';
import { openWritePath } from './write-path.ts';

export type OpenStore = EmbeddedStore;

/**
 * Opens the event store in a folder and brings it to where it was: what a crash left half done is removed, and the events that were on
 * disk but not in a segment are searchable again when this resolves. Where it fails, everything that is open by then is closed.
 * Throws `StoreError`: `folder_in_use`, `folder_unusable`, `corrupt`.
 */
export async function openStore(options: StoreOptions, tuning: StoreTuning = {}): Promise<OpenStore> {
  const { memoryLimitMb, now, logger = silentLogger, onFatal = () => undefined } = options;
  const folder = prepareDataFolder(options.dataDir);
  const closing = new Closing();
  try {
    const durable = await openCatalog(folder, { now, logger, onInDoubt: onFatal }, closing);
    const engine = await openEngine(
      { memoryLimitMb, segmentsFolder: folder.segments, linksFolder: folder.links, spillFolder: folder.spill, logger },
      closing,
    );

    const { catalog, journalFolder } = durable;
    const remover = new PartRemover(await engine.connect(), engine.aliases, journalFolder, logger);
    closing.add('the files that are being removed', () => remover.idle());
    const { nextSequence } = catalog.progress();
    const published = { segments: catalog.segments(), blobFiles: catalog.blobFiles() };
    const versions = new VersionSet(published, nextSequence, (retired) => remover.remove(retired));

    const reading = await openReadPath({ engine, versions, remover }, options, tuning, closing);
    const { footers } = reading;
    const writing = await openWritePath({ folder, durable, engine, versions, remover, footers }, options, tuning, closing);
    await footers.readNew();
    const checkFolder = folderCheckOf(folder);
    return new EmbeddedStore({ ...engine, ...reading, ...writing, versions, storeId: catalog.storeId(), checkFolder, closing });
  } catch (error) {
    await closing.close();
    throw error;
  }
}
