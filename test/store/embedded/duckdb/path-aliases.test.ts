import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { rememberFooters } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { PathAliases } from '../../../../store/embedded/duckdb/path-aliases.ts';
import { silentLogger } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { eventSeries, HOUR, inAnswerOrder, NOW, rowsPlan, storedIds } from '../stored-events.ts';

const BY_COUNTRY = rowsPlan({ output: { kind: 'groups', by: ['country'], buckets: 0 } });

function filesUnderTest() {
  const root = temporaryFolder();
  const [segmentsFolder, linksFolder] = [join(root, 'segments'), join(root, 'links')];
  mkdirSync(segmentsFolder);
  mkdirSync(linksFolder);
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (details: object) => void warnings.push(details) };
  const files = new PathAliases({ segmentsFolder, linksFolder, logger });
  const write = (name: string, content: string) => {
    writeFileSync(files.segmentPath(name), content);
    return files.segmentPath(name);
  };
  return { files, linksFolder, write, warnings };
}

test('a file is read by the same link until it is released, and the link is then that to another file', async () => {
  const { files, linksFolder, write } = filesUnderTest();
  const [a, b, c] = [write('a', 'of a'), write('b', 'of b'), write('c', 'of c')];
  const [toA, toB] = [files.aliasFor(a), files.aliasFor(b)];
  expect(files.aliasFor(a)).toBe(toA);
  expect([toA, toB].map((path) => readFileSync(path, 'utf8'))).toEqual(['of a', 'of b']);
  await files.release([a, 'one that was never read']);
  expect(readdirSync(linksFolder)).toHaveLength(1);
  expect(files.aliasFor(c)).toBe(toA);
  expect(readFileSync(toA, 'utf8')).toBe('of c');
  expect(files.aliasFor(b)).toBe(toB);
});

test('where there can be no aliases, files are read as they are, and the log says so once', () => {
  const { files, linksFolder, write, warnings } = filesUnderTest();
  rmdirSync(linksFolder);
  writeFileSync(linksFolder, 'in the way');
  const [a, b] = [write('a', 'of a'), write('b', 'of b')];
  expect([files.aliasFor(a), files.aliasFor(b)]).toEqual([a, b]);
  expect(warnings).toHaveLength(1);
});

test('a file whose link cannot be made is read as it is until it is released; others have links', async () => {
  const { files, linksFolder, write } = filesUnderTest();
  const first = join(linksFolder, '0.parquet');
  writeFileSync(first, 'in the way');
  const [a, b] = [write('a', 'of a'), files.segmentPath('missing')];
  expect([files.aliasFor(a), files.aliasFor(a), files.aliasFor(b)]).toEqual([a, a, b]);
  await files.release([a, b]);
  expect(files.aliasFor(a)).not.toBe(a);
  expect(readFileSync(files.aliasFor(a), 'utf8')).toBe('of a');
  expect(files.aliasFor(a)).not.toBe(first);
});

test('a link that cannot be removed is no reason to fail; its number is not used again', async () => {
  const { files, write, warnings } = filesUnderTest();
  const [a, b] = [write('a', 'of a'), write('b', 'of b')];
  const link = files.aliasFor(a);
  rmSync(link);
  mkdirSync(link);
  await files.release([a]);
  expect(warnings).toHaveLength(1);
  expect(files.aliasFor(b)).not.toBe(link);
  expect(readFileSync(files.aliasFor(b), 'utf8')).toBe('of b');
  expect(files.aliasFor(a)).not.toBe(link);
});

test('an error names files, not their aliases', () => {
  const { files, write } = filesUnderTest();
  const paths = Array.from({ length: 12 }, (_, number) => write(`s${number}`, ''));
  const aliases = paths.map((path) => files.aliasFor(path));
  const error = new Error(`cannot read ${aliases[11]} and ${aliases[1]}`);
  expect(files.withOriginalPaths(error)).toHaveProperty('message', `cannot read ${paths[11]} and ${paths[1]}`);
  const other = new Error('something else');
  expect(files.withOriginalPaths(other)).toBe(other);
});

test.each([
  ['another link', 'in the same second', 0],
  ['the same link', 'a second later', 1],
])('a file is read by %s that takes inode and size of one that is gone %s', async (expected, _, laterSeconds) => {
  const { files, write } = filesUnderTest();
  const changed = new Date(NOW);
  const old = write('old', 'of old');
  utimesSync(old, changed, changed);
  const link = files.aliasFor(old);
  await files.release([old]);
  const fresh = files.segmentPath('fresh');
  // Written over, as recycled journal files are, so that the inode stays.
  renameSync(old, fresh);
  writeFileSync(fresh, 'fresh!', { flag: 'r+' });
  const later = new Date(NOW + laterSeconds * 1_000);
  utimesSync(fresh, later, later);
  expect(files.aliasFor(fresh) === link ? 'the same link' : 'another link').toBe(expected);
  expect(readFileSync(files.aliasFor(fresh), 'utf8')).toBe('fresh!');
});

test('no file is read by a link that has been one to its like, whatever came in between', async () => {
  const { files, write } = filesUnderTest();
  const inode = write('inode', '');
  const used: string[] = [];
  for (const [size, seconds] of [
    [1, 10],
    [2, 10],
    [1, 10],
    [3, 11],
    [1, 10],
    [3, 11],
    [4, 11],
  ] as const) {
    writeFileSync(inode, 'x'.repeat(size));
    utimesSync(inode, seconds, seconds);
    used.push(`${files.aliasFor(inode)} ${size} ${seconds}`);
    await files.release([inode]);
  }
  expect(new Set(used)).toHaveLength(used.length);
  // The files of the last second need no further alias.
  expect(new Set(used.map((one) => one.split(' ')[0]))).toHaveLength(3);
});

test('DuckDB takes nothing of a file that is gone for a part of one with its inode, its size and its time', async () => {
  const { files } = filesUnderTest();
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  onTestFinished(() => {
    connection.closeSync();
    engine.closeSync();
  });
  const [old, fresh] = ['old', 'fresh'].map((name) => files.segmentPath(name)) as [string, string];
  const changed = new Date(NOW);
  /** Two files have the same size: one column's texts are longer by as much as the other's are shorter. */
  const write = async (path: string, lengths: readonly [number, number]) => {
    const [a, b] = lengths.map((length) => `repeat(chr(65 + i::INTEGER), ${length})`);
    await connection.run(
      `COPY (SELECT ${a} AS a, ${b} AS b FROM range(26) AS letters(i)) TO '${path}.new' (FORMAT parquet, COMPRESSION uncompressed)`,
    );
    writeFileSync(path, readFileSync(`${path}.new`), { flag: path === old ? 'w' : 'r+' });
    utimesSync(path, changed, changed);
  };
  const lengthsIn = async (path: string) =>
    (await connection.runAndReadAll(`SELECT DISTINCT length(a)::INTEGER, length(b)::INTEGER FROM read_parquet('${path}')`)).getRows();
  await write(old, [10, 20]);
  expect(await lengthsIn(files.aliasFor(old))).toEqual([[10, 20]]);
  await files.release([old]);
  const { size, ino } = statSync(old);
  renameSync(old, fresh);
  await write(fresh, [20, 10]);
  expect(statSync(fresh)).toMatchObject({ size, ino });
  expect(await lengthsIn(files.aliasFor(fresh))).toEqual([[20, 10]]);
});

test('DuckDB sees at once that a link is to another file, and remembers no more footers than there are links', async () => {
  const { files } = filesUnderTest();
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  onTestFinished(() => {
    connection.closeSync();
    engine.closeSync();
  });
  await rememberFooters(connection);
  const ask = async (text: string) => (await connection.runAndReadAll(text)).getRows();
  const remembered = async () => Number((await ask("SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'OBJECT_CACHE'"))[0]?.[0]);
  const sizes: number[] = [];
  for (let number = 0; number < 40; number += 1) {
    const path = files.segmentPath(`s${number}`);
    await connection.run(`COPY (SELECT ${number + 100} AS x FROM range(100)) TO '${path}' (FORMAT parquet)`);
    expect(await ask(`SELECT x, count(*) FROM read_parquet('${files.aliasFor(path)}') GROUP BY x`)).toEqual([[number + 100, 100n]]);
    sizes.push(await remembered());
    await files.release([path]);
  }
  expect(sizes[0]).toBeGreaterThan(1_000);
  expect(sizes.at(-1)).toBe(sizes[0]);
});

test('a store has aliases for what was read and is still there, and after a restart for segments only', async () => {
  const dataDir = temporaryFolder();
  const inodesIn = (folder: string) =>
    readdirSync(join(dataDir, folder))
      .filter((name) => name.endsWith('.parquet') && !name.includes('-log'))
      .map((name) => statSync(join(dataDir, folder, name)).ino)
      .toSorted();
  // No footers are read meanwhile.
  const store = await embeddedStoreIn(dataDir, { cachesCounts: false, backgroundJobsEveryMs: HOUR });
  const events = eventSeries('e', 48_000, NOW - HOUR, 10);
  for (let first = 0; first < 42_000; first += 6_000) {
    await store.append(canonicalBatch(events.slice(first, first + 6_000)));
    await store.search(BY_COUNTRY);
    expect(inodesIn('links')).toEqual([...inodesIn('journal'), ...inodesIn('segments')].toSorted());
    await store.flushNow();
    expect(inodesIn('links')).toHaveLength(first / 6_000);
    await store.search(BY_COUNTRY);
    expect(inodesIn('links')).toEqual(inodesIn('segments'));
  }
  await store.append(canonicalBatch(events.slice(42_000)));
  await store.flushNow();
  await store.compactNow();
  expect((await store.stats()).segments).toBe(1);
  // The links to merged files are removed before the files.
  await expect.poll(() => [inodesIn('links'), inodesIn('segments').length]).toEqual([[], 1]);
  expect(await storedIds(store, rowsPlan({ page: { index: 0, size: 5_000 } }))).toEqual(inAnswerOrder(events));
  expect(inodesIn('links')).toEqual(inodesIn('segments'));
  await store.close();
  await embeddedStoreIn(dataDir);
  expect(inodesIn('links')).toEqual(inodesIn('segments'));
});

test('the link to a small journal, whose events are copied, is gone when it is loaded', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const events = eventSeries('e', 30, NOW - HOUR, 10);
  for (const event of events) {
    await store.append(canonicalBatch([event]));
  }
  await store.append(canonicalBatch(events.slice(5, 20)));
  expect(await store.stats()).toMatchObject({ events: 30, duplicateEvents: 15 });
  expect(readdirSync(join(dataDir, 'links'))).toEqual([]);
});
