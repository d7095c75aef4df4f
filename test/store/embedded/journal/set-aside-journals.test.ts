import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SetAsideJournals } from '../../../../store/embedded/journal/set-aside-journals.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

const names = (number: number) => [`${number}.parquet`, `${number}.logs`];

test('the oldest files give way where there are too many bytes, and those of one journal stay together', async () => {
  const folder = temporaryFolder();
  const damaged = new SetAsideJournals(folder, 100);
  for (const [number, bytes] of [
    [1, 20],
    [2, 30],
    [3, 20],
    [4, 60],
  ] as const) {
    for (const name of names(number)) writeFileSync(join(folder, name), 'x'.repeat(bytes));
    await damaged.setAside(names(number), number * 1_000);
  }
  // The last one is larger than all may be, and stays.
  expect(readdirSync(folder)).toEqual(['damaged-4000-4.logs', 'damaged-4000-4.parquet']);
});

test('what was set aside before a time is removed, and nothing else of the folder', async () => {
  const folder = temporaryFolder();
  const damaged = new SetAsideJournals(folder);
  for (const number of [1, 2]) {
    for (const name of names(number)) writeFileSync(join(folder, name), 'x');
    expect(await damaged.setAside([...names(number), 'gone'], number * 1_000)).toEqual(
      names(number).map((name) => `damaged-${number}000-${name}`),
    );
  }
  writeFileSync(join(folder, 'damaged-by-hand'), 'x');
  writeFileSync(join(folder, '3.logs'), 'x');
  await damaged.removeBefore(2_000);
  expect(readdirSync(folder)).toEqual(['3.logs', 'damaged-2000-2.logs', 'damaged-2000-2.parquet', 'damaged-by-hand']);
});
