import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendRejected } from '../../../src/sinks/rejected-file.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';

const lines = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));

test.each([
  ['that is not there', null, 'a\nb\n'],
  ['that is empty', '', 'a\nb\n'],
  ['with lines', 'x\ny\n', 'x\ny\na\nb\n'],
  ['whose last line is unfinished', 'x\ny', 'x\ny\na\nb\n'],
])('lines are appended to a file %s', async (_what, before, after) => {
  const path = join(temporaryFolder(), 'rejected.ndjson');
  if (before !== null) writeFileSync(path, before);
  await appendRejected(path, lines('a', 'b'));
  expect(readFileSync(path, 'utf8')).toBe(after);
});

test('a file is made before there is anything to append, for its owner and group alone', async () => {
  const path = join(temporaryFolder(), 'rejected.ndjson');
  await appendRejected(path, []);
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o007]).toEqual(['', 0]);
});

test('a link is followed', async () => {
  const folder = temporaryFolder();
  symlinkSync(join(folder, 'target'), join(folder, 'link'));
  await appendRejected(join(folder, 'link'), lines('a'));
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('a\n');
});

test.each([
  ['a folder', 'folder', 'cannot be opened'],
  ['a file in no folder', 'nowhere/file', 'cannot be opened'],
  ['no file', 'device', 'is not a file'],
])('%s is refused', async (_what, name, words) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'folder'));
  symlinkSync('/dev/null', join(folder, 'device'));
  await expect(appendRejected(join(folder, name), lines('a'))).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining(words),
  });
});
