import { join } from 'node:path';
import { type DataFolder, prepareDataFolder } from '../../data-folder.ts';
import { StoreError } from '../../store-error.ts';
import { Catalog } from '../catalog/catalog.ts';
import { hasCatalog } from '../catalog/catalog-database.ts';
import {
  checkFolder,
  doesHoldEvents,
  inspectFolder,
  readSegmentsFolder,
  type SegmentsFolder,
  sizeFaultOf,
} from '../catalog/start-checks.ts';
import { type LostFile, type RebuildOptions, type Rebuilt, rebuildCatalog } from './rebuild-catalog.ts';

export interface RepairOptions extends RebuildOptions {
  readonly dataDir: string;
}

/** What a repair did. */
export type Repair =
  /** Nothing: a start will go on with the folder as it is. */
  | { readonly kind: 'none' }
  /** The catalog says from now on that these files are missing. */
  | { readonly kind: 'accepted'; readonly missing: readonly LostFile[] }
  /** There is a new catalog, for a reason in words. */
  | ({ readonly kind: 'rebuilt'; readonly reason: string } & Rebuilt);

/**
 * Brings a data folder that no program has open to where a start goes on with it. Files that the catalog names and that are missing are
 * noted as damaged. A catalog that is missing, damaged or older than its files is made anew of what the files hold. No file is removed.
 * Throws `StoreError`: `folder_in_use`, `folder_unusable`, and `corrupt` where the files contradict each other.
 */
export async function repairFolder(options: RepairOptions): Promise<Repair> {
  const folder = prepareDataFolder(options.dataDir);
  const segmentsFolder = await readSegmentsFolder(folder.segments);
  const holdsEvents = await doesHoldEvents(folder, segmentsFolder);
  if (!holdsEvents && !hasCatalog(folder.catalogFile)) {
    return { kind: 'none' };
  }
  try {
    return await acceptMissing(folder, segmentsFolder, holdsEvents);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'corrupt') {
      throw error;
    }
    return {
      kind: 'rebuilt',
      reason: error.message.replace(/^DATA_DIR: |; no file was changed.*$/gs, ''),
      ...(await rebuildCatalog(folder, segmentsFolder, options)),
    };
  }
}

/** Throws `StoreError` (`corrupt`) where the catalog has to be made anew. */
async function acceptMissing(folder: DataFolder, segmentsFolder: SegmentsFolder, holdsEvents: boolean): Promise<Repair> {
  const inspected = await inspectFolder(folder, segmentsFolder, 'all');
  using catalog = new Catalog(folder.catalogFile, { holdsEvents });
  if (inspected === undefined) {
    await checkFolder(folder, catalog, segmentsFolder, 'all');
  }
  const missing = await noteMissing(folder, catalog);
  return missing.length === 0 ? { kind: 'none' } : { kind: 'accepted', missing };
}

async function noteMissing(folder: DataFolder, catalog: Catalog): Promise<LostFile[]> {
  const missing: LostFile[] = [];
  for (const file of [...catalog.segments(), ...catalog.blobFiles()]) {
    const fault = file.damage === undefined ? await sizeFaultOf(join(folder.segments, file.file), file.bytes) : undefined;
    if (fault !== undefined && 'zoneRows' in file) {
      catalog.noteDamage(file, fault);
      missing.push({ file: file.file, fault, events: file.rows });
    } else if (fault !== undefined && 'ingestTimes' in file) {
      catalog.noteBlobFile(file, { damage: fault });
      // Its events are there, without their logs.
      missing.push({ file: file.file, fault, events: 0 });
    }
  }
  return missing;
}
