import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import './recorded-calls.ts';
import { repairFolder } from '../../store/embedded/repair/repair.ts';
import { KNOWN_IN_TIME } from '../fixtures/known-in-time.ts';
import { withFolder } from '../property/filled-store.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { type CrashesAt, crashPoints, drawnPowerLoss, KILL, recordedLife, TriedFolders } from './crash.ts';
import { anyLife, RECYCLING_LIFE, WHOLE_LIFE } from './histories.ts';
import { DATA_DIR, type History, openStoreAt } from './history.ts';
import { type LeftFolder, writeFolder } from './left-folder.ts';
import { type AcknowledgedEvent, contradiction, type Found, type Truth, whatIsFound } from './truth.ts';

const kills: CrashesAt = () => ({ 'a kill': KILL });
const powerLosses: CrashesAt = ({ after, disk }) => ({ 'a drawn power loss': drawnPowerLoss(after, disk) });

/** Opens what a crash has left without its catalog, after a repair. Says what is wrong; undefined where nothing is. */
async function wrongAfterRepair(left: LeftFolder, truth: Truth): Promise<string | undefined> {
  return await withFolder(async (root) => {
    writeFolder(root, left);
    const dataDir = join(root, DATA_DIR);
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, `catalog.sqlite${suffix}`), { force: true });
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

async function tryRepairs(history: History, crashesAt: CrashesAt): Promise<number> {
  const tried = new TriedFolders();
  const known = new Map<string, AcknowledgedEvent>();
  for (const { after, disk, truth } of crashPoints(history)) {
    for (const [logId, event] of truth.acknowledged) known.set(logId, event);
    for (const [name, crash] of Object.entries(crashesAt({ after, disk, truth }))) {
      const left = disk.left(crash);
      const wrong = tried.add(left, truth) ? await wrongAfterRepair(left, withExpired(truth, known)) : undefined;
      if (wrong !== undefined) throw new Error(`${name}, after operation ${after}: ${wrong}\n${[...left.keys()].join('\n')}`);
    }
  }
  return tried.count;
}

const LIVES = { 'the whole life of a store': WHOLE_LIFE, 'a life that recycles files': RECYCLING_LIFE };

describe.each(Object.entries(LIVES))('%s', (_, steps) => {
  test('is brought back from its files after a kill took its catalog', async () => {
    expect(await tryRepairs(await recordedLife(steps), kills)).toBeGreaterThan(40);
  });

  test('is brought back from its files after a power loss took its catalog', async () => {
    expect(await tryRepairs(await recordedLife(steps), powerLosses)).toBeGreaterThan(40);
  });
});

test('random lives are brought back from their files without a catalog', async () => {
  const drawn =
    (seed: number): CrashesAt =>
    ({ after, disk }) => ({ 'a kill': KILL, 'a drawn power loss': drawnPowerLoss(seed ^ after, disk) });
  const comesBack = fc.asyncProperty(anyLife, fc.noBias(fc.integer()), async (steps, seed) => {
    await tryRepairs(await recordedLife(steps), drawn(seed));
  });
  await assertAsyncProperty(comesBack, { numRuns: propertyRuns(2), ...KNOWN_IN_TIME });
});
