import { join } from 'node:path';
import { repairFolder } from '../../store/embedded/repair/repair.ts';
import { withFolder } from '../property/filled-store.ts';
import { type CrashesAt, crashPoints, TriedFolders } from './crash.ts';
import { DATA_DIR, type History, openStoreAt } from './history.ts';
import { type LeftFolder, writeFolder } from './left-folder.ts';
import { type AcknowledgedEvent, contradiction, type Found, type Truth, whatIsFound } from './truth.ts';

/** What a crash leaves, without its catalog. Most operations of SQLite change nothing else, so that many crashes leave the same. */
function withoutCatalog(left: LeftFolder): LeftFolder {
  return new Map([...left].filter(([path]) => !path.startsWith(join(DATA_DIR, 'catalog.sqlite'))));
}

/** Opens what is left, after a repair. Says what is wrong; undefined where nothing is. */
async function wrongAfterRepair(left: LeftFolder, truth: Truth): Promise<string | undefined> {
  return await withFolder(async (root) => {
    writeFolder(root, left);
    const dataDir = join(root, DATA_DIR);
    const now = () => truth.nowMs;
    try {
      await repairFolder({ dataDir, memoryLimitMb: 256, now });
      const store = await openStoreAt(dataDir, now);
      try {
        const before = wrongIn(await whatIsFound(store), truth);
        await store.flushNow();
        return before ?? wrongIn(await whatIsFound(store), truth);
      } finally {
        await store.close();
      }
    } catch (error) {
      return `what is left cannot be used: ${(error as Error).stack}`;
    }
  });
}

/** What of Kafka is read again, and found to be stored, is no loss. */
function wrongIn(found: Found, truth: Truth): string | undefined {
  const underWay = truth.underWay.map((batch) => ({ ...batch, offset: undefined }));
  return contradiction({ ...found, offset: truth.offset }, { ...truth, underWay });
}

/** What a file that came back has of expired events is answered until they expire again. */
function withExpired(truth: Truth, known: ReadonlyMap<string, AcknowledgedEvent>): Truth {
  const gone = [...known].filter(([logId]) => !truth.acknowledged.has(logId));
  const mayBeGone = new Set([...truth.mayBeGone, ...gone.map(([logId]) => logId)]);
  return { ...truth, acknowledged: new Map([...truth.acknowledged, ...gone]), mayBeGone };
}

/**
 * Takes the catalog of what crashes leave, and has it repaired. Throws at the first folder that is not as it has to be; resolves with the
 * number of folders.
 */
export async function tryRepairs(history: History, crashesAt: CrashesAt): Promise<number> {
  const tried = new TriedFolders();
  const known = new Map<string, AcknowledgedEvent>();
  for (const { after, disk, truth } of crashPoints(history)) {
    for (const [logId, event] of truth.acknowledged) known.set(logId, event);
    for (const [name, crash] of Object.entries(crashesAt({ after, disk, truth }))) {
      const left = withoutCatalog(disk.left(crash));
      const wrong = tried.add(left, truth) ? await wrongAfterRepair(left, withExpired(truth, known)) : undefined;
      if (wrong !== undefined) throw new Error(`${name}, after operation ${after}: ${wrong}\n${[...left.keys()].join('\n')}`);
    }
  }
  return tried.count;
}
