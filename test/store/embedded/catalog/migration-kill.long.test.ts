import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ANSWERS_OF_VERSION_6, folderOfVersion6 } from '../../../fixtures/earlier-folder.ts';
import { folderAnswers } from '../../../fixtures/folder-answers.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';

const SCRIPT = fileURLToPath(new URL('./killed-opening.ts', import.meta.url));

/** Opens the catalog in a process that is killed before a statement; resolves with whether it was. */
async function killedBefore(dataDir: string, statement: number): Promise<boolean> {
  const opening = spawn(process.execPath, [SCRIPT, dataDir, String(statement)], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = await once(opening, 'exit');
  expect(signal ?? code).toBe(signal === null ? 0 : 'SIGKILL');
  return signal === 'SIGKILL';
}

test('a program that is killed before any statement of a migration gives the same answers after the next start', async () => {
  let kills = 0;
  for (let statement = 1; ; statement += 1) {
    const dataDir = folderOfVersion6();
    if (!(await killedBefore(dataDir, statement))) break;
    kills += 1;
    const store = await embeddedStoreIn(dataDir);
    expect(await folderAnswers(store), `killed before statement ${statement}`).toEqual(ANSWERS_OF_VERSION_6);
    await store.close();
  }
  // The letters are moved, and each of the two transactions has several statements.
  expect(kills).toBeGreaterThan(20);
});

test('a program that is killed at every start, each time a little later, gives the same answers in the end', async () => {
  const dataDir = folderOfVersion6();
  for (let statement = 1; await killedBefore(dataDir, statement); statement += 1);
  const store = await embeddedStoreIn(dataDir);
  expect(await folderAnswers(store)).toEqual(ANSWERS_OF_VERSION_6);
});
