import type { DataFolder } from '../../data-folder.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import type { VersionSet } from '../snapshot/version-set.ts';
import type { CheckedParts } from './file-checks.ts';

interface RunningParts {
  readonly folder: DataFolder;
  readonly catalog: Pick<Catalog, 'fault'>;
  readonly journalFolder: JournalFolder;
  readonly versions: VersionSet;
  readonly checks: SegmentChecks;
}

/** What a check reads of a store that is open, as it is now. Segments that are not whole are contained. */
export function partsUnderCheck({ folder, catalog, journalFolder, versions, checks }: RunningParts): CheckedParts {
  const unflushed = () => versions.growingSegments.flatMap(({ journals }) => journals.map(({ number }) => number));
  const damaged = versions.damaged.map(({ segment, fault }) => ({ ...segment, damage: fault }));
  return {
    folder,
    segments: [...versions.segments, ...damaged],
    blobFiles: versions.blobFiles,
    journals: unflushed(),
    journalFolder,
    faultOf: (file) => checks.faultOf(file),
    faultOfSqliteFile: (path) => checks.faultOfSqliteFile(path),
    catalogFault: () => catalog.fault(),
    hold: (part) => {
      if (typeof part === 'number') {
        return unflushed().includes(part) ? new DisposableStack() : undefined;
      }
      if ('damage' in part && 'zoneRows' in part) {
        return versions.damaged.some(({ segment }) => segment.id === part.id) ? new DisposableStack() : undefined;
      }
      const isLive = [...versions.segments, ...versions.blobFiles].includes(part);
      return isLive ? versions.acquire([part]) : undefined;
    },
    onDamage: (segment) => checks.checkInBackground(segment),
  };
}
