import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import './recorded-calls.ts';
import { withFolder } from '../property/filled-store.ts';
import { atEvery, crashPoints, drawnPowerLosses, KILL, recordedLife, tryCrashes } from './crash.ts';
import { WHOLE_LIFE } from './histories.ts';
import { DATA_DIR, History } from './history.ts';

/** What is below a folder, without what no start reads. */
function contentOf(root: string, path = ''): [path: string, content: Buffer | null][] {
  return readdirSync(join(root, path)).flatMap((name) => {
    const below = join(path, name);
    if (!statSync(join(root, below)).isDirectory()) return [[below, readFileSync(join(root, below))]];
    const isRead = below !== join(DATA_DIR, 'links') && below !== join(DATA_DIR, 'spill');
    return [[below, null], ...(isRead ? contentOf(root, below) : [])];
  });
}

test('what is recorded is all that the store does: a kill after the last operation leaves the folder as it is', async () => {
  await withFolder(async (root) => {
    const life = await History.begin(root);
    try {
      for (const step of WHOLE_LIFE) {
        await life.take(step);
        const left = [...crashPoints(life)].at(-1)?.disk.left(KILL);
        expect([...(left ?? [])].sort()).toEqual(contentOf(root).sort());
      }
    } finally {
      await life.end();
    }
  });
});

test('a power loss after some operation of the store loses nothing and doubles nothing', async () => {
  // An append has seven operations, each of which has its turn.
  expect(await tryCrashes(await recordedLife(WHOLE_LIFE), atEvery(5, drawnPowerLosses()))).toBeGreaterThan(15);
});
