import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { eventSeries, NOW, storedIds } from '../../store/embedded/stored-events.ts';
import { runHere } from './command-run.ts';

it.each<[readonly string[], string]>([
  [['--repair', 'a', 'b'], "Unexpected argument 'b'; check takes one DATA_DIR"],
  [['--repare'], "Unknown option '--repare'; did you mean --repair?"],
  [['--repair', '--memory-limit-mb', '1'], '--memory-limit-mb="1" is not allowed; allowed: a whole number 256..1048576'],
])('check %j is refused', async (args, message) => {
  expect(await runHere(['check', ...args])).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
});

it.each([
  ['that does not exist', (folder: string) => join(folder, 'none'), /^shieldlog: DATA_DIR: ".*none" does not exist; allowed: the folder/],
  ['that is a file', () => import.meta.filename, /^shieldlog: DATA_DIR: ".*" is no folder; allowed: the folder/],
])('a folder %s is not repaired', async (_, place, message) => {
  const { status, stdout, stderr } = await runHere(['check', '--repair', place(temporaryFolder())]);
  expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)]);
});

it('a folder is repaired once its program has ended, and one line says why not before', async () => {
  const dataDir = temporaryFolder();
  const store = await storeIn(dataDir);
  await store.append(canonicalBatch(eventSeries('e', 5, NOW, 1)));
  await store.flushNow();
  const refused = await runHere(['check', '--repair', dataDir]);
  const inUse = /^shieldlog: DATA_DIR: another shieldlog process is using ".*catalog\.sqlite"; stop it or choose another folder\n$/;
  expect(refused).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(inUse) });
  await store.close();

  expect(await runHere(['check', '--repair'], { DATA_DIR: dataDir })).toMatchObject({
    status: 0,
    stdout: 'nothing to repair: a start goes on with the folder as it is\n',
  });
  rmSync(join(dataDir, 'catalog.sqlite'));
  const { status, stdout, stderr } = await runHere(['check', '--repair', dataDir]);
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^the catalog is made anew: ".*" holds events, and its catalog ".*" is missing or has no tables$/),
    'it has 1 segment, 1 blob file and 0 journals with 5 events',
    'Kafka is read from its earliest where no journal has an offset; cursors of the feed from before are refused',
    '',
  ]);
  expect(statSync(join(dataDir, 'catalog.sqlite')).mode & 0o077).toBe(0);
  expect(await storedIds(await storeIn(dataDir))).toHaveLength(5);
});
