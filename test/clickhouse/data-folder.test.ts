import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { clickhouseUrl, testDatabase } from './engine.ts';
import { programOn } from './faults/program-on.ts';

test('a program keeps others from its DATA_DIR until it has stopped, although its events are elsewhere', async () => {
  const database = (await testDatabase()).name;
  const choices = { database, env: { DATA_DIR: temporaryFolder() } };
  const program = await programOn([clickhouseUrl()], choices);
  await expect(programOn([clickhouseUrl()], choices)).rejects.toMatchObject({ code: 'folder_in_use' });
  await program.stop();
  await programOn([clickhouseUrl()], choices);
});

test('a program refuses a DATA_DIR with a link in it', async () => {
  const DATA_DIR = temporaryFolder();
  symlinkSync(join(DATA_DIR, 'elsewhere'), join(DATA_DIR, 'control-plane.sqlite'));
  await expect(programOn([clickhouseUrl()], { env: { DATA_DIR } })).rejects.toMatchObject({
    code: 'folder_unusable',
    message: expect.stringContaining('is a symbolic link, which is not allowed there'),
  });
});
