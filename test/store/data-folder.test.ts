import { expect, test } from 'vitest';
import { networkFileSystemOf, sharedCheck } from '../../store/data-folder.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';

test('those who ask whether a folder is there share one check, and are told when it does not answer', async () => {
  const answers: ((problem: string | undefined) => void)[] = [];
  const hanging = sharedCheck(() => new Promise((resolve) => answers.push(resolve)), 'it does not answer', 10);
  expect(await Promise.all([hanging(), hanging(), hanging()])).toEqual(Array.from({ length: 3 }, () => 'it does not answer'));
  expect(await hanging()).toBe('it does not answer');
  expect(answers).toHaveLength(1);
  answers[0]?.(undefined);
});

test('a check that answers is told, and the next one is made anew', async () => {
  const answers = ['answer 1', 'answer 2'];
  const check = sharedCheck(async () => answers.shift(), 'it does not answer', 60_000);
  expect([await check(), await check()]).toEqual(['answer 1', 'answer 2']);
});

test('a folder on a network file system is known by the type that the system tells, and one on a disk is on none', () => {
  const nfs = 0x6969;
  expect(networkFileSystemOf(temporaryFolder(), () => nfs)).toBe('NFS');
  expect(networkFileSystemOf(temporaryFolder())).toBeNull();
});
