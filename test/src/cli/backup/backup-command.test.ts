import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { seededBytes } from '../../../random/run-seed.ts';
import { embeddedStoreIn } from '../../../store/embedded/embedded-store-in.ts';
import { startWhole } from '../../management/running-program.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { runHere } from '../command-run.ts';
import { filesIn, idsIn } from './backup-files.ts';

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = join(temporaryFolder(), 'backup');
  app = await startApp();
});

afterEach(() => app.stop());

const take = (...logIds: readonly string[]) => ingest(app, logIds.map((logId) => eventLine({ logId })).join(''));

const backUp = (dir = folder, url = app.url) => runHere(['backup', dir, '--url', url]);

function moveBehindLink(name: string): void {
  const target = join(temporaryFolder(), name);
  renameSync(join(folder, name), target);
  symlinkSync(target, join(folder, name));
}

test('a backup holds what was acknowledged, each event once, and the next one copies only what is new', async () => {
  await take('a', 'b');
  await app.store.settle('flush');
  await take('c');
  const first = await backUp();
  expect(first).toMatchObject({ status: 0, stdout: '' });
  expect(first.stderr).toMatch(
    /^5 files with \d+ bytes copied in \d+\.\d s; 0 files were there already, and 0 of earlier backups are removed\n/,
  );
  expect(first.stderr).toContain(`${folder} holds 3 events\n`);
  expect(await idsIn(folder)).toEqual(['a', 'b', 'c']);
  expect(readdirSync(folder).sort()).toEqual(['catalog.sqlite', 'segments']);

  await take('d');
  expect((await backUp()).stderr).toMatch(/^3 files .*; 4 files were there already, and 0 of earlier backups/);
  expect(await idsIn(folder)).toEqual(['a', 'b', 'c', 'd']);

  const later = Array.from({ length: 8 }, (_, index) => `e${index}`);
  for (const logId of later) {
    await take(logId);
    await app.store.settle('flush');
  }
  expect((await backUp()).stderr).toMatch(/^17 files .*; 6 files were there already, and 0 of earlier backups/);
  await app.store.settle('merge');
  // The eleven segments are one, whose logs stay where they are.
  expect((await backUp()).stderr).toMatch(/^2 files .*; 11 files were there already, and 11 of earlier backups are removed/);
  expect(await idsIn(folder)).toEqual(['a', 'b', 'c', 'd', ...later]);
});

test('only its owner can read a backup', async () => {
  await take('a');
  await backUp();
  const modes = ['', 'catalog.sqlite', 'segments'].map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600, 0o700]);
});

test('a backup of an empty program is one of no events', async () => {
  expect((await backUp()).stderr).toContain('holds 0 events');
  expect(await idsIn(folder)).toEqual([]);
});

test('the state of the control plane is in it, and the database', async () => {
  await using program = await startWhole();
  const zone = await ask(program, '/dnszone', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ Domain: 'example.org' }),
  });
  expect(zone.status).toBeLessThan(300);
  expect(await backUp(folder, program.url)).toMatchObject({ status: 0 });
  expect(readdirSync(folder).sort()).toEqual(['catalog.sqlite', 'control-plane.sqlite', 'database.sqlite', 'segments']);
  await using restored = await startWhole({}, (dataDir) => cpSync(folder, dataDir, { recursive: true }));
  const again = await ask(restored, '/dnszone', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ Domain: 'example.org' }),
  });
  expect(again.status).toBe(400);
});

describe('is refused:', () => {
  test.each<[string, readonly string[], string]>([
    ['without a folder', [], 'backup needs DIR, the folder of the backup'],
    ['with two', ['one', 'two'], "Unexpected argument 'two'; backup needs DIR, the folder of the backup"],
    ['with an empty one', [''], 'backup needs DIR, the folder of the backup'],
  ])('%s', async (_, args, message) => {
    expect(await runHere(['backup', ...args])).toEqual({ status: 2, stdout: '', stderr: `shieldlog: ${message}\n` });
  });

  test('a folder with something else in it', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'letter.txt'), 'dear');
    const { status, stderr } = await backUp();
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${folder} holds "letter.txt", which is in no backup`)]);
    expect(readdirSync(folder)).toEqual(['letter.txt']);
  });

  test('a file', async () => {
    writeFileSync(folder, 'x');
    const { status, stderr } = await backUp();
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${folder} cannot be written: `)]);
  });

  test('the data folder of the program itself', async () => {
    await take('a');
    const { status, stderr } = await backUp(app.dataDir);
    expect([status, stderr]).toEqual([1, expect.stringContaining('cannot be read as the catalog of a backup: database is locked')]);
    expect(await (await app.store.stats()).events).toBe(1);
  });

  test('a backup that a program was started on', async () => {
    await take('a');
    await backUp();
    await (await embeddedStoreIn(folder, { now: Date.now })).close();
    const { status, stderr } = await backUp();
    expect([status, stderr]).toEqual([1, expect.stringContaining('or a backup that a program was started on')]);
  });

  test('the backup of another store, which stays', async () => {
    await take('a');
    await backUp();
    const other = await startApp();
    onTestFinished(() => other.stop());
    const { status, stderr } = await backUp(folder, other.url);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${folder} is the backup of another store`)]);
    expect(await idsIn(folder)).toEqual(['a']);
    // The program whose answer was not read can be backed up again.
    await expect.poll(() => backUp(join(temporaryFolder(), 'other'), other.url)).toMatchObject({ status: 0 });
  });

  test.each<[string, () => void, () => string]>([
    [
      'a folder that its group may write to',
      () => chmodSync(folder, 0o770),
      () => `others may write to ${folder}: its mode is 770; allowed: `,
    ],
    ['a folder that all may write to', () => chmodSync(folder, 0o707), () => `others may write to ${folder}: its mode is 707; allowed: `],
    [
      'segments that all may write to',
      () => chmodSync(join(folder, 'segments'), 0o702),
      () => `others may write to ${folder}/segments: its mode is 702; allowed: `,
    ],
    ['linked segments', () => moveBehindLink('segments'), () => `DIR: "${folder}/segments" is a symbolic link, which is not allowed there`],
    [
      'a linked catalog',
      () => moveBehindLink('catalog.sqlite'),
      () => `DIR: "${folder}/catalog.sqlite" is a symbolic link, which is not allowed there`,
    ],
  ])('%s', async (_, change, message) => {
    await take('a');
    await backUp();
    change();
    const before = filesIn(folder);
    await take('b');
    const { status, stderr } = await backUp();
    expect([status, stderr]).toEqual([1, expect.stringContaining(message())]);
    expect(filesIn(folder)).toEqual(before);
  });

  test.runIf(process.getuid?.() === 0)('a folder of another user', async () => {
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, 12_345, 12_345);
    const { status, stderr } = await backUp();
    expect([status, stderr]).toEqual([1, expect.stringContaining(`others may write to ${folder}: its owner is the user 12345; allowed: `)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a program that was started on an older copy of its data, with both sequences', async () => {
    await take('a');
    await app.store.settle('flush');
    const older = join(temporaryFolder(), 'older');
    await backUp(older);
    await take('b', 'c');
    await backUp();
    const before = filesIn(folder);
    const restored = await startApp({ dataDir: older });
    onTestFinished(() => restored.stop());
    const { status, stderr } = await backUp(folder, restored.url);
    const both = `the backup in ${folder} goes up to sequence 3, and what was sent only to 1`;
    expect([status, stderr]).toEqual([1, expect.stringContaining(both)]);
    expect(filesIn(folder)).toMatchObject(before);
  });

  test('while another one is under way, and with a file that is missing, which the log of the program names', async () => {
    await take('a');
    const held = await app.store.beginBackup();
    expect(await backUp()).toMatchObject({ status: 1, stderr: expect.stringContaining('answered 409: another backup is under way') });
    const [file] = held.published;
    await held[Symbol.asyncDispose]();
    rmSync(file?.path ?? '');
    const { status, stderr } = await backUp();
    expect([status, stderr]).toEqual([1, expect.stringContaining('answered 409: The files of the store cannot be copied; the log')]);
    expect(JSON.stringify(app.log)).toContain(`no such file or directory, stat '${file?.path}'`);
    expect(stderr).toContain(`${folder} is as it was before`);
  });
});

test('a backup that is not read on is cut off, and another one can be made', async () => {
  const hasty = await startApp({ env: { EXPORT_IDLE_MS: '1' } });
  onTestFinished(() => hasty.stop());
  const log = { text: seededBytes(400_000).toString('hex') };
  const lines = Array.from({ length: 20 }, (_, index) => eventLine({ logId: `large-${index}`, log: { ...log, index } }));
  await ingest(hasty, lines.join(''));
  const asked = request(`${hasty.url}/backup`, { method: 'POST', headers: { 'content-type': 'application/json' } });
  asked.end('{"files":[]}');
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  await expect
    .poll(async () => {
      await using backup = await hasty.store.beginBackup().catch(() => null);
      return backup?.events;
    })
    .toBe(20);
  asked.destroy();
});

test('a file of the folder that has another size than before is replaced', async () => {
  await take('a');
  await backUp();
  const [name = ''] = readdirSync(join(folder, 'segments'));
  writeFileSync(join(folder, 'segments', name), 'x');
  expect((await backUp()).stderr).toMatch(/^2 files .*; 1 files were there already, and 0 of earlier backups are removed/);
  expect(await idsIn(folder)).toEqual(['a']);
});

test.each<[string, string]>([
  ['{}', 'files'],
  ['{"files":1}', 'files'],
  ['{"files":[{"name":"a"}]}', 'files[0].bytes'],
  ['{"files":[{"name":1,"bytes":2}]}', 'files[0].name'],
  ['{"files":[],"to":"/tmp"}', 'to'],
])('a request with the body %s is refused at %s', async (body, field) => {
  const answer = await ask(app, '/backup', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect([answer.status, answer.body.errors[0].field]).toEqual([400, field]);
});
