import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockDataFolder, networkFileSystemOf, sharedAnswer } from '../../store/data-folder.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { embeddedStoreIn } from './embedded/embedded-store-in.ts';

const IN_USE = { code: 'folder_in_use', message: expect.stringContaining('another shieldlog process is using ') };

test('a folder is made and has one program at a time, whether its events are in it or not', async () => {
  const folder = join(temporaryFolder(), 'one', 'two');
  const lock = lockDataFolder(folder);
  onTestFinished(() => lock[Symbol.dispose]());
  expect(existsSync(folder)).toBe(true);
  expect(() => lockDataFolder(folder)).toThrow(expect.objectContaining(IN_USE));
  await expect(embeddedStoreIn(folder)).rejects.toMatchObject(IN_USE);
  lock[Symbol.dispose]();
  const store = await embeddedStoreIn(folder);
  expect(() => lockDataFolder(folder)).toThrow(expect.objectContaining(IN_USE));
  await store.close();
  lockDataFolder(folder)[Symbol.dispose]();
  await (await embeddedStoreIn(folder)).close();
});

test('a folder with a link in it, or that is a file, is not locked', () => {
  const folder = temporaryFolder();
  symlinkSync(temporaryFolder(), join(folder, 'control-plane.sqlite'));
  expect(() => lockDataFolder(folder)).toThrow(/^DATA_DIR: ".*control-plane\.sqlite" is a symbolic link, which is not allowed there/);
  expect(() => lockDataFolder(import.meta.filename)).toThrow(expect.objectContaining({ code: 'folder_unusable' }));
});

test('those who ask whether a folder is there share one check, and are told when it does not answer', async () => {
  const answers: ((problem: string | undefined) => void)[] = [];
  const hanging = sharedAnswer(() => new Promise((resolve) => answers.push(resolve)), 'it does not answer', 10);
  expect(await Promise.all([hanging(), hanging(), hanging()])).toEqual(Array.from({ length: 3 }, () => 'it does not answer'));
  expect(await hanging()).toBe('it does not answer');
  expect(answers).toHaveLength(1);
  answers[0]?.(undefined);
});

test('a check that answers is told, and the next one is made anew', async () => {
  const answers = ['answer 1', 'answer 2'];
  const check = sharedAnswer(async () => answers.shift(), 'it does not answer', 60_000);
  expect([await check(), await check()]).toEqual(['answer 1', 'answer 2']);
});

test('an answer is kept for the time that it was asked to be, and the next one is made anew', async () => {
  const answers = ['answer 1', 'answer 2'];
  const check = sharedAnswer(async () => answers.shift(), 'it does not answer', 60_000, 50);
  expect([await check(), await check()]).toEqual(['answer 1', 'answer 1']);
  await expect.poll(check).toBe('answer 2');
});

test('a folder on a network file system is known by the type that the system tells, and one on a disk is on none', () => {
  const nfs = 0x6969;
  expect(networkFileSystemOf(temporaryFolder(), () => nfs)).toBe('NFS');
  expect(networkFileSystemOf(temporaryFolder())).toBeNull();
});
