import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CLOSED_PORT_URL } from '../../edge/upstreams.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../../store/embedded/embedded-store-in.ts';
import { eventSeries, NOW, storedIds } from '../../store/embedded/stored-events.ts';
import { startWhole } from '../management/running-program.ts';
import { eventLine, ingest, startApp } from '../running-app.ts';
import { runHere } from './command-run.ts';

/** Five events in a segment. */
async function filledFolder(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch(eventSeries('e', 5, NOW, 1)));
  await store.flushNow();
  await store.close();
  return dataDir;
}

it.each<[readonly string[], string]>([
  [['--repair', 'a', 'b'], "Unexpected argument 'b'; check takes one DATA_DIR"],
  [['a', 'b'], "Unexpected argument 'b'; check takes one DATA_DIR"],
  [['--repair', '--url', 'http://127.0.0.1:1'], '--url is not allowed with --repair'],
  [['--memory-limit-mb', '512'], '--memory-limit-mb is allowed only with --repair'],
  [['--url', 'here'], '--url "here" is not allowed; allowed: a URL such as http://127.0.0.1:8080'],
  [['--repare'], "Unknown option '--repare'; did you mean --repair?"],
  [['--repair', '--memory-limit-mb', '1'], '--memory-limit-mb="1" is not allowed; allowed: a whole number 256..1048576'],
])('check %j is refused', async (args, message) => {
  expect(await runHere(['check', ...args])).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
});

it.each([
  ['that does not exist', (folder: string) => join(folder, 'none'), /^shieldlog: DATA_DIR: ".*none" does not exist; allowed: the folder/],
  ['that is a file', () => import.meta.filename, /^shieldlog: DATA_DIR: ".*" is no folder; allowed: the folder/],
])('a folder %s is neither checked nor repaired', async (_, place, message) => {
  for (const flags of [[], ['--repair']]) {
    const { status, stdout, stderr } = await runHere(['check', ...flags, place(temporaryFolder())]);
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)]);
  }
});

const WHOLE = /^\/.*: \d+ files, \d+ bytes, 5 events, 0 faults, \d+\.\d seconds\n$/;

it('a check tells faults and a summary, of a folder that no program has open', async () => {
  const dataDir = await filledFolder();
  expect(await runHere(['check', dataDir])).toEqual({ status: 0, stdout: expect.stringMatching(WHOLE), stderr: '' });
  expect(await runHere(['check'], { DATA_DIR: dataDir })).toMatchObject({ status: 0 });
  const [segment = ''] = readdirSync(join(dataDir, 'segments')).filter((name) => !name.endsWith('-log.parquet'));
  truncateSync(join(dataDir, 'segments', segment), 100);
  const { status, stdout, stderr } = await runHere(['check', dataDir]);
  expect([status, stderr]).toEqual([1, '']);
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^segments\/j1-.*\.parquet: it has 100 bytes instead of \d+; of 5 events at most$/),
    expect.stringMatching(/, 0 events, 1 fault, \d+\.\d seconds$/),
    '',
  ]);
});

const STATES = ['whole', 'empty', 'absent'] as const;
type State = (typeof STATES)[number];

/** A folder with five events in a segment and one in a journal, whose parts are as they are said to be. */
async function folderOf(parts: Readonly<Record<'catalog.sqlite' | 'segments' | 'journal', State>>): Promise<string> {
  const dataDir = await filledFolder();
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch(eventSeries('f', 1, NOW, 1)));
  await store.close();
  for (const [name, state] of Object.entries(parts)) {
    const path = join(dataDir, name);
    if (state !== 'whole') rmSync(path, { recursive: true });
    if (state === 'empty' && name === 'catalog.sqlite') writeFileSync(path, '');
    else if (state === 'empty') mkdirSync(path);
  }
  return dataDir;
}

describe.each(STATES)('a folder whose catalog is %s', (catalog) => {
  it.each(STATES.flatMap((segments) => STATES.map((journal) => [segments, journal] as const)))(
    'with segments that are %s and journals that are %s is checked, or refused, without a defect',
    async (segments, journal) => {
      const dataDir = await folderOf({ 'catalog.sqlite': catalog, segments, journal });
      const { status, stdout, stderr } = await runHere(['check', dataDir]);
      const isNone = catalog === 'absent' && segments === 'absent' && journal === 'absent';
      const isLost = catalog === 'whole' ? segments !== 'whole' : segments === 'whole' || journal === 'whole';
      expect([status, stderr]).toEqual(
        isNone
          ? [2, expect.stringMatching(/^shieldlog: DATA_DIR: .* is no folder of a program that was ever started\n$/)]
          : [isLost ? 1 : 0, ''],
      );
      if (isNone) return;
      expect(stdout).toMatch(isLost ? / [1-9]\d* faults?, \d+\.\d seconds\n$/ : / 0 faults, \d+\.\d seconds\n$/);
      const noCatalog = /^catalog\.sqlite: it is missing or has no tables, and there are events; /;
      if (isLost && catalog !== 'whole') expect(stdout).toMatch(noCatalog);
    },
  );
});

it('a backup is checked, and repaired where its catalog is missing', async () => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  await ingest(app, eventLine({ logId: 'a' }) + eventLine({ logId: 'b' }));
  const folder = join(temporaryFolder(), 'backup');
  expect(await runHere(['backup', folder, '--url', app.url])).toMatchObject({ status: 0 });
  const names = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const before = names();
  const whole = /^\/.*: 3 files, \d+ bytes, 2 events, 0 faults, \d+\.\d seconds\n$/;
  expect(await runHere(['check', folder])).toEqual({ status: 0, stdout: expect.stringMatching(whole), stderr: '' });
  expect(names()).toEqual(before);
  rmSync(join(folder, 'catalog.sqlite'));
  const { status, stdout, stderr } = await runHere(['check', folder]);
  expect([status, stderr]).toEqual([1, '']);
  expect(stdout).toMatch(/^catalog\.sqlite: it is missing or has no tables, and there are events; .*\n.*, 1 fault, \d+\.\d seconds\n$/);
  expect(await runHere(['check', '--repair', folder])).toMatchObject({ status: 0, stderr: '' });
  expect(await runHere(['check', folder])).toEqual({ status: 0, stdout: expect.stringMatching(whole), stderr: '' });
});

it('a check asks the program that has the folder open', async () => {
  const program = await startWhole();
  onTestFinished(() => program[Symbol.asyncDispose]());
  const { dataDir } = program;
  const online = await runHere(['check', '--url', program.url]);
  expect(online).toEqual({ status: 0, stdout: expect.stringMatching(/ files, \d+ bytes, 0 events, 0 faults, /), stderr: '' });
  const asked = new RegExp(`^${dataDir} is in use; the program at ${program.url} is asked\n$`);
  const inUse = await runHere(['check', dataDir, '--url', program.url]);
  expect(inUse).toEqual({ status: 0, stdout: expect.stringMatching(`^${dataDir}: \\d+ files, `), stderr: expect.stringMatching(asked) });
  const nobody = await runHere(['check', dataDir, '--url', CLOSED_PORT_URL]);
  expect(nobody).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(/is asked\nshieldlog: .*127\.0\.0\.1/) });
});

it('a folder is repaired once its program has ended, and one line says why not before', async () => {
  const dataDir = await filledFolder();
  const store = await embeddedStoreIn(dataDir);
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
    'it has 1 segment, 1 blob file and 0 journals with at most 5 events; the next start finds those that are in two places',
    'Kafka is read from its earliest where no journal has an offset; cursors of the feed from before are refused',
    '',
  ]);
  expect(statSync(join(dataDir, 'catalog.sqlite')).mode & 0o077).toBe(0);
  expect(await storedIds(await embeddedStoreIn(dataDir))).toHaveLength(5);
});
