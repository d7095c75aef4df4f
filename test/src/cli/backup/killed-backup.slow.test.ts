import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { programEnv } from '../../../fixtures/program-env.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../../../store/embedded/embedded-store-in.ts';
import { wholeFeed } from '../../../store/embedded/feed/whole-feed.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { runHere } from '../command-run.ts';

const MAIN = join(import.meta.dirname, '../../../../src/main.ts');
const KILLER = new URL('./killed-backup.ts', import.meta.url).href;

let app: RunningApp;

beforeEach(async () => {
  app = await startApp();
});

afterEach(() => app.stop());

async function take(...logIds: readonly string[]): Promise<void> {
  await ingest(app, logIds.map((logId) => eventLine({ logId })).join('') + (logIds[0] === 'a' ? '' : '{"wrong":true}\n'));
  await app.store.settle('flush');
}

/** The events of a copy of a backup, and its number of dead letters. */
async function restored(backup: string) {
  const dataDir = join(temporaryFolder(), 'data');
  cpSync(backup, dataDir, { recursive: true });
  const store = await embeddedStoreIn(dataDir, { now: Date.now });
  const events = await wholeFeed(store);
  const { deadLetters } = await store.stats();
  await store.close();
  return { ids: events.map(({ logId }) => logId), deadLetters };
}

/** Makes a backup in a process of its own, with what it does at its operations on files; resolves with the signal that ended it. */
async function backUp(folder: string, atOperations: Readonly<Record<string, string>>): Promise<NodeJS.Signals | null> {
  const args = ['--import', KILLER, MAIN, 'backup', folder, '--url', app.url];
  const child = spawn(process.execPath, args, { env: { ...programEnv(), ...atOperations }, stdio: 'ignore' });
  const [, signal] = await once(child, 'exit');
  return signal;
}

/** What a kill at each operation of a backup leaves in the folder, in their order, and then what the backup itself does. */
async function leftByKills(first: string): Promise<readonly string[]> {
  const [folder, kept] = [join(temporaryFolder(), 'backup'), temporaryFolder()];
  cpSync(first, folder, { recursive: true });
  expect(await backUp(folder, { COPIED: folder, KEPT_IN: kept })).toBeNull();
  return [...readdirSync(kept).map((_, index) => join(kept, String(index + 1))), folder];
}

test('a backup that is killed at any of its operations leaves the one before, or is whole, and the next one goes on', async () => {
  await take('a', 'b');
  const first = join(temporaryFolder(), 'backup');
  expect(await runHere(['backup', first, '--url', app.url])).toMatchObject({ status: 0 });
  await take('c', 'd');
  const later = Array.from({ length: 8 }, (_, index) => `e${index}`);
  for (const logId of later) await take(logId);
  await app.store.settle('merge');
  await take('f');
  const ids = ['a', 'b', 'c', 'd', ...later, 'f'];
  const [before, after] = [
    { ids: ['a', 'b'], deadLetters: 0 },
    { ids, deadLetters: 1 },
  ];
  const found = new Set<string>();
  for (const [operation, folder] of (await leftByKills(first)).entries()) {
    const left = await restored(folder);
    // The databases get their names one after the other, that of the dead letters first.
    expect([before, after, { ...before, deadLetters: 1 }]).toContainEqual(left);
    found.add(`${left.ids.length} ${left.deadLetters}`);
    if (operation % 8 === 7) {
      expect(await runHere(['backup', folder, '--url', app.url])).toMatchObject({ status: 0 });
      expect(await restored(folder)).toEqual(after);
      expect(
        readdirSync(folder)
          .concat(readdirSync(join(folder, 'segments')))
          .filter((name) => name.endsWith('.tmp')),
      ).toEqual([]);
    }
  }
  expect(found).toContain('2 0');
  expect(found).toContain(`${ids.length} 1`);
});

test('a first backup that is killed leaves nothing that a program would start on, and the next one goes on', async () => {
  await take('a', 'b');
  for (const operation of [1, 4, 6, 9]) {
    const folder = join(temporaryFolder(), 'backup');
    expect(await backUp(folder, { KILLED_AT: String(operation) })).toBe('SIGKILL');
    expect(await runHere(['backup', folder, '--url', app.url])).toMatchObject({ status: 0 });
    expect(await restored(folder)).toMatchObject({ ids: ['a', 'b'] });
  }
});
