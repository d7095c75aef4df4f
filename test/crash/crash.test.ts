import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import './recorded-calls.ts';
import { withFolder } from '../property/filled-store.ts';
import { crashPoints, drawnPowerLoss, KILL, recordedLife, tryCrashes } from './crash.ts';
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

/** One of so many operations is tried. An append has seven, each of which has its turn. */
const EVERY = 5;

test('a kill after some operation of the store loses nothing and doubles nothing', async () => {
  const life = await recordedLife(WHOLE_LIFE);
  const tried = await tryCrashes(life, ({ after }) => (after % EVERY === 0 ? { 'a kill': KILL } : {}));
  expect(tried).toBeGreaterThan(15);
});

test('a power loss after some operation of the store loses nothing and doubles nothing', async () => {
  const life = await recordedLife(WHOLE_LIFE);
  const tried = await tryCrashes(life, ({ after, disk }) => (after % EVERY === 2 ? { 'a power loss': drawnPowerLoss(after, disk) } : {}));
  expect(tried).toBeGreaterThan(15);
});
