import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
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

/** A server that gives each asker this answer. */
async function answering(body: string | Buffer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/octet-stream').end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const headOf = (name: string, bytes = 1) => `${JSON.stringify({ store: 1, events: 0, files: [{ name, bytes, sent: true }] })}\n`;

test.each<[string, string, RegExp]>([
  ['is none', 'hello\n', /is no shieldlog/],
  ['is empty', '', /broke off/],
  ['has another first line', '{"store":1}\n', /is no shieldlog/],
  ['names a file elsewhere', `${headOf('../evil')}x{"whole":true}\n`, /a file named "\.\.\/evil" is in no backup/],
  ['ends within a file', `${headOf('catalog.sqlite', 10)}x`, /broke off/],
  ['ends without its last line', `${headOf('catalog.sqlite')}x`, /broke off/],
])('an answer that %s leaves the backup as it was', async (_, body, message) => {
  await take('a');
  await backUp();
  rmSync(folder, { recursive: true });
  const { status, stderr } = await backUp(folder, await answering(body));
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(readdirSync(folder)).not.toContain('catalog.sqlite');
});

/** The answer of a program that has these files, by their names. */
function answerOf(files: Readonly<Record<string, string>>, store: number): Buffer {
  const contents = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content, 'latin1') }));
  const named = contents.map(({ name, content }) => ({ name, bytes: content.length, sent: true }));
  const head = `${JSON.stringify({ store, events: 0, files: named })}\n`;
  return Buffer.concat([Buffer.from(head), ...contents.map(({ content }) => content), Buffer.from('{"whole":true}\n')]);
}

/** A catalog with a change in it. */
function changedCatalog(catalog: string, sql: string): string {
  const file = join(temporaryFolder(), 'catalog.sqlite');
  writeFileSync(file, catalog, 'latin1');
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
  return readFileSync(file, 'latin1');
}

type Files = Readonly<Record<string, string>>;
const isSegment = (name: string) => name.startsWith('segments/');
const without = (files: Files, isLeftOut: (name: string) => boolean): Files =>
  Object.fromEntries(Object.entries(files).filter(([name]) => !isLeftOut(name)));
const withCatalog = (files: Files, change: (catalog: string) => string): Files => ({
  ...files,
  'catalog.sqlite': change(files['catalog.sqlite'] ?? ''),
});

describe.each([true, false])('an answer whose files do not make a backup replaces and removes nothing, with one before: %s', (hasOne) => {
  test.each<[string, (files: Files) => Files, RegExp]>([
    ['no files at all', () => ({}), /what was sent has no catalog\.sqlite/],
    ['no catalog', (files) => without(files, (name) => !isSegment(name)), /what was sent has no catalog\.sqlite/],
    [
      'an empty catalog',
      (files) => withCatalog(files, () => ''),
      /the catalog\.sqlite that was sent cannot be read: no such table: progress/,
    ],
    ['a text for a catalog', (files) => withCatalog(files, () => 'x'), /that was sent cannot be read: no such table: progress/],
    ['a catalog that ends early', (files) => withCatalog(files, (catalog) => catalog.slice(0, -4_096)), /that was sent cannot be read: /],
    [
      'a catalog whose sequence was changed',
      (files) => withCatalog(files, (catalog) => changedCatalog(catalog, "UPDATE progress SET value = 99 WHERE name = 'next_sequence'")),
      /that was sent cannot be read: the copy of the catalog is damaged: its progress is not as it was written/,
    ],
    [
      'the catalog of a folder that a program has',
      (files) => withCatalog(files, (catalog) => changedCatalog(catalog, "DELETE FROM progress WHERE name = 'is_backup'")),
      /the catalog\.sqlite that was sent is not that of a backup/,
    ],
    [
      'a catalog that names a file elsewhere',
      (files) => withCatalog(files, (catalog) => changedCatalog(catalog, "UPDATE segments SET file = '../evil' WHERE id = 1")),
      /a file named "segments\/\.\.\/evil" is in no backup/,
    ],
    [
      'a catalog alone that names others',
      (files) => without(files, isSegment),
      /that was sent does not fit to its files: ENOENT: .*segments\/j\d/,
    ],
    [
      'shorter segments than its catalog says',
      (files) => Object.fromEntries(Object.entries(files).map(([name, text]) => [name, isSegment(name) ? text.slice(1) : text])),
      /does not fit to its files: ".*segments\/j\d.* has \d+ bytes instead of \d+/,
    ],
  ])('%s', async (_, change, message) => {
    await take('a');
    await app.store.settle('flush');
    await backUp();
    await take('b');
    const later = join(temporaryFolder(), 'later');
    await backUp(later);
    if (!hasOne) rmSync(folder, { recursive: true });
    const before = hasOne ? filesIn(folder) : {};
    const { status, stderr } = await backUp(folder, await answering(answerOf(change(filesIn(later)), storeIdIn(later))));
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(filesIn(folder)).toMatchObject(before);
    if (!hasOne) expect(readdirSync(folder)).not.toContain('catalog.sqlite');
    expect(await backUp()).toMatchObject({ status: 0 });
    expect(await idsIn(folder)).toEqual(['a', 'b']);
  });
});

test('a catalog of another store than the first line says leaves the backup as it was', async () => {
  await take('a');
  await backUp();
  const before = filesIn(folder);
  const other = "UPDATE progress SET value = value + 1 WHERE name = 'store_id'; DELETE FROM progress WHERE name = 'checksum'";
  const files = withCatalog(before, (catalog) => changedCatalog(catalog, other));
  const { status, stderr } = await backUp(folder, await answering(answerOf(files, storeIdIn(folder))));
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${folder} is the backup of another store`)]);
  expect(filesIn(folder)).toMatchObject(before);
});

function storeIdIn(path: string): number {
  const database = new DatabaseSync(join(path, 'catalog.sqlite'), { readOnly: true });
  const id = Number(database.prepare("SELECT value FROM progress WHERE name = 'store_id'").get()?.['value']);
  database.close();
  return id;
}
