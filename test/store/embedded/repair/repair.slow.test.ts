import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkDataFolder } from '../../../../store/embedded/check/offline-check.ts';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { type Repair, repairFolder } from '../../../../store/embedded/repair/repair.ts';
import type { CheckLine } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { wholeFeed } from '../feed/whole-feed.ts';
import { event, HOUR, NOW, storedIds } from '../stored-events.ts';

const CATALOG = 'catalog.sqlite';

const SERIES = ['a', 'b', 'c', 'd', 'e'].map((prefix, index) =>
  Array.from({ length: 10 }, (_, nth) => {
    const logId = `${prefix}${nth}`;
    return event(logId, NOW - 20 * HOUR + 100 * index + nth, { log: { of: logId } });
  }),
);
const idsFrom = (...prefixes: readonly string[]) =>
  SERIES.flat().flatMap(({ logId }) => (prefixes.includes(logId[0] ?? '') ? [logId] : []));
const ALL_IDS = idsFrom('a', 'b', 'c', 'd', 'e');

/** `a` to `c` in a segment that a merge wrote, `d` in one of a flush, `e` in two journals. */
async function filledFolder(): Promise<{ readonly dataDir: string; readonly older: string; readonly cursor: string }> {
  const dataDir = temporaryFolder();
  const older = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  for (const [index, events] of SERIES.entries()) {
    if (index === 4) {
      await store.append(canonicalBatch(events.slice(0, 6)));
      await store.append(canonicalBatch(events.slice(6), { sourceOffsets: [{ topic: 't', partition: 0, nextOffset: 77n }] }));
      continue;
    }
    await store.append(canonicalBatch(events));
    await store.flushNow();
    if (index === 1) cpSync(join(dataDir, CATALOG), join(older, CATALOG));
    if (index === 2) await store.compactNow();
  }
  const cursor = store.positions.encode(await store.positions.newest());
  await store.close();
  expect(filesIn(dataDir, 'segments').filter((name) => !name.endsWith('-log.parquet'))).toHaveLength(2);
  return { dataDir, older, cursor };
}

const filesIn = (dataDir: string, folder: string) => readdirSync(join(dataDir, folder)).sort();

const repaired = (dataDir: string): Promise<Repair> => repairFolder({ dataDir, memoryLimitMb: 256, now: () => NOW });

/** Makes the content of all files below a folder comparable. */
function bytesIn(dataDir: string): string[] {
  const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => statSync(join(dataDir, path)).isFile() && !/\.sqlite/.test(path));
  return files.map((path) => readFileSync(join(dataDir, path), 'latin1')).sort();
}

interface Answer {
  readonly ids: readonly string[];
  readonly withoutLog: readonly string[];
  readonly unreadable: number;
}

/** What a start answers, in searches and in the feed, before and after a flush. */
async function answered(dataDir: string): Promise<Answer> {
  const store = await embeddedStoreIn(dataDir);
  const answers: Answer[] = [];
  for (const _ of ['in journals', 'in segments']) {
    const feed = await wholeFeed(store, { limit: 500 });
    const ids = (await storedIds(store)).sort();
    expect(feed.map(({ logId }) => logId).sort()).toEqual(ids);
    for (const { logId, logJson } of feed) expect([JSON.stringify({ of: logId }), '{}']).toContain(logJson);
    const withoutLog = feed.filter(({ logJson }) => logJson === '{}').map(({ logId }) => logId);
    answers.push({ ids, withoutLog, unreadable: store.unreadableEvents('all', { fromMs: 0, toMs: NOW }) });
    await store.flushNow();
  }
  await store.close();
  expect(answers[1]).toEqual(answers[0]);
  return answers[0] as Answer;
}

function flipBit(path: string, at: number): void {
  const content = readFileSync(path);
  content[at] = (content[at] as number) ^ 1;
  writeFileSync(path, content);
}

const segmentOf = (dataDir: string, start: 'c' | 'j4') =>
  filesIn(dataDir, 'segments').find((name) => name.startsWith(start) && !name.endsWith('-log.parquet')) ?? '';

test.each<[string, (dataDir: string, older: string) => void]>([
  ['missing', (dataDir) => rmSync(join(dataDir, CATALOG))],
  ['without bytes', (dataDir) => truncateSync(join(dataDir, CATALOG))],
  ['no database', (dataDir) => writeFileSync(join(dataDir, CATALOG), 'x'.repeat(9_000))],
  ['damaged', (dataDir) => writeFileSync(join(dataDir, CATALOG), readFileSync(join(dataDir, CATALOG)).fill(0xff, 4_096, 8_192))],
  ['older than its files', (dataDir, older) => cpSync(join(older, CATALOG), join(dataDir, CATALOG))],
])('a catalog that is %s is made anew of what the files hold, and no file is removed', async (_, damage) => {
  const { dataDir, older, cursor } = await filledFolder();
  damage(dataDir, older);
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining('shieldlog check --repair'),
  });
  const before = bytesIn(dataDir);
  const catalogBefore = existsSync(join(dataDir, CATALOG)) ? readFileSync(join(dataDir, CATALOG)) : undefined;

  const repair = await repaired(dataDir);
  expect(repair).toMatchObject({
    kind: 'rebuilt',
    segments: 2,
    blobFiles: 4,
    journals: 2,
    events: 50,
    lost: [],
    withoutLogs: [],
    leftOut: 0,
  });
  expect(bytesIn(dataDir)).toEqual(before);
  const { leftOutFolder = '' } = repair as Extract<Repair, { kind: 'rebuilt' }>;
  expect(existsSync(leftOutFolder) ? readFileSync(join(leftOutFolder, CATALOG)) : undefined).toEqual(catalogBefore);
  expect(await repaired(dataDir)).toEqual({ kind: 'none' });
  expect(await answered(dataDir)).toEqual({ ids: ALL_IDS, withoutLog: [], unreadable: 0 });

  const store = await embeddedStoreIn(dataDir);
  expect(await store.sourceOffset('t', 0)).toBe(77n);
  // Sequences may be given to other events from now on.
  expect(await store.positions.decode(cursor)).toMatch(/^is a cursor of another store/);
  await store.append(canonicalBatch(SERIES.flat()));
  expect((await store.stats()).events).toBe(50);
});

test('the inputs of a merge beside its output are left out', async () => {
  const { dataDir } = await filledFolder();
  const inputs = temporaryFolder();
  const store = await embeddedStoreIn(inputs);
  for (const events of SERIES.slice(0, 3)) {
    await store.append(canonicalBatch(events));
    await store.flushNow();
  }
  await store.close();
  for (const name of filesIn(inputs, 'segments').filter((one) => !one.endsWith('-log.parquet'))) {
    cpSync(join(inputs, 'segments', name), join(dataDir, 'segments', name));
  }
  rmSync(join(dataDir, CATALOG));
  expect(await repaired(dataDir)).toMatchObject({ segments: 2, leftOut: 3, events: 50 });
  expect(await answered(dataDir)).toEqual({ ids: ALL_IDS, withoutLog: [], unreadable: 0 });
});

test('files of which each has events of its own beside common ones are used, each event once', async () => {
  const { dataDir } = await filledFolder();
  const merged = join(dataDir, 'segments', segmentOf(dataDir, 'c'));
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder() });
  onTestFinished(() => engine.closeSync());
  const connection = await engine.connect();
  for (const [name, part] of [
    ['c1-k-0', 'seq <= 20'],
    ['c57-l-0', 'seq > 10'],
  ]) {
    const target = join(dataDir, 'segments', `${name}.parquet`);
    await connection.run(`COPY (SELECT * FROM read_parquet('${merged}') WHERE ${part}) TO '${target}' (FORMAT parquet)`);
  }
  rmSync(merged);
  rmSync(join(dataDir, CATALOG));
  const before = temporaryFolder();
  cpSync(join(dataDir, 'segments'), before, { recursive: true });
  expect(await repaired(dataDir)).toMatchObject({ segments: 3, leftOut: 0 });
  expect(await answered(dataDir)).toEqual({ ids: ALL_IDS, withoutLog: [], unreadable: 0 });
  // What a power loss brings back of a file that was replaced since counts as no newer than the catalog.
  cpSync(before, join(dataDir, 'segments'), { recursive: true });
  expect(await answered(dataDir)).toEqual({ ids: ALL_IDS, withoutLog: [], unreadable: 0 });
});

test('a flushed journal that came back gets another number, because its own is that of a blob file', async () => {
  const { dataDir } = await filledFolder();
  const store = await embeddedStoreIn(dataDir);
  await store.append(canonicalBatch([event('late', NOW - HOUR, { log: { of: 'late' } }), ...(SERIES[3] ?? [])]));
  const journals = temporaryFolder();
  cpSync(join(dataDir, 'journal'), journals, { recursive: true });
  await store.flushNow();
  await store.close();
  for (const kind of ['parquet', 'logs']) cpSync(join(journals, `000000000007.${kind}`), join(dataDir, 'journal', `000000000007.${kind}`));
  rmSync(join(dataDir, CATALOG));
  // Its two files, and a segment all of whose events it has.
  expect(await repaired(dataDir)).toMatchObject({ journals: 1, leftOut: 3 });
  expect(filesIn(dataDir, 'journal')).toEqual(['000000000008.logs', '000000000008.parquet']);
  const lines: CheckLine[] = [];
  for await (const line of checkDataFolder(dataDir)) lines.push(line);
  // Fifty in segments, and eleven in the journal, ten of which are duplicates. Those of a row of the catalog are in no journal.
  expect(lines.at(-1)).toMatchObject({ kind: 'summary', faults: 0, events: 61 });
  expect(await answered(dataDir)).toEqual({ ids: [...ALL_IDS, 'late'], withoutLog: [], unreadable: 0 });
});

test('more than half of the files of a catalog may be missing where a repair accepts that', async () => {
  const { dataDir } = await filledFolder();
  const away = temporaryFolder();
  for (const name of filesIn(dataDir, 'segments').filter((one) => one !== segmentOf(dataDir, 'j4'))) {
    cpSync(join(dataDir, 'segments', name), join(away, name));
    rmSync(join(dataDir, 'segments', name));
  }
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringContaining('shieldlog check --repair'),
  });
  const repair = await repaired(dataDir);
  const missing = readdirSync(away).map((file) => expect.objectContaining({ file, events: file.startsWith('c') ? 30 : 0 }));
  expect(repair).toEqual({ kind: 'accepted', missing: expect.arrayContaining(missing) });
  expect(await repaired(dataDir)).toEqual({ kind: 'none' });
  expect(await answered(dataDir)).toEqual({ ids: idsFrom('d', 'e'), withoutLog: idsFrom('d'), unreadable: 30 });

  // They were on a disk that is back.
  cpSync(away, join(dataDir, 'segments'), { recursive: true });
  expect(await answered(dataDir)).toEqual({ ids: ALL_IDS, withoutLog: [], unreadable: 0 });
});

test('a segment that cannot be read without its catalog counts as lost, and is used once it is put back', async () => {
  const { dataDir } = await filledFolder();
  const name = segmentOf(dataDir, 'c');
  const whole = readFileSync(join(dataDir, 'segments', name));
  rmSync(join(dataDir, CATALOG));
  writeFileSync(join(dataDir, 'segments', name), Buffer.from(whole).fill(0xff, 4, 400));
  expect(await repaired(dataDir)).toMatchObject({ segments: 1, lost: [{ file: name, events: 30 }], leftOut: 1, events: 20 });
  expect(await answered(dataDir)).toEqual({ ids: idsFrom('d', 'e'), withoutLog: [], unreadable: 30 });
  writeFileSync(join(dataDir, 'segments', name), whole);
  expect(await answered(dataDir)).toMatchObject({ ids: ALL_IDS, unreadable: 0 });
});

test('a segment of which an older catalog has the checksums is not taken for whole', async () => {
  const { dataDir, older } = await filledFolder();
  cpSync(join(dataDir, CATALOG), join(older, CATALOG));
  const later = await embeddedStoreIn(dataDir);
  await later.append(canonicalBatch([event('late', NOW - HOUR, { log: { of: 'late' } })]));
  await later.flushNow();
  await later.close();
  cpSync(join(older, CATALOG), join(dataDir, CATALOG));
  const name = segmentOf(dataDir, 'c');
  const size = statSync(join(dataDir, 'segments', name)).size;
  flipBit(join(dataDir, 'segments', name), size - 60);
  expect(await repaired(dataDir)).toMatchObject({ kind: 'rebuilt', lost: [{ file: name, events: 30 }] });
  const { ids, unreadable } = await answered(dataDir);
  expect([ids, unreadable]).toEqual([[...idsFrom('d', 'e'), 'late'].sort(), 30]);
});

test('a blob file that is missing or damaged without its catalog takes its logs alone away', async () => {
  const { dataDir } = await filledFolder();
  rmSync(join(dataDir, CATALOG));
  const [first = '', second = ''] = filesIn(dataDir, 'segments').filter((name) => name.endsWith('-log.parquet'));
  rmSync(join(dataDir, 'segments', first));
  flipBit(join(dataDir, 'segments', second), 60);
  const repair = await repaired(dataDir);
  expect(repair).toMatchObject({ withoutLogs: [{ file: 'j1-lost-log.parquet' }, { file: second }], lost: [] });
  expect(await answered(dataDir)).toEqual({ ids: ALL_IDS, withoutLog: idsFrom('a', 'b'), unreadable: 0 });
});

test('a damaged journal before the last one counts as lost', async () => {
  const { dataDir } = await filledFolder();
  rmSync(join(dataDir, CATALOG));
  const [name = ''] = filesIn(dataDir, 'journal').filter((one) => one.endsWith('.parquet'));
  flipBit(join(dataDir, 'journal', name), 100);
  expect(await repaired(dataDir)).toMatchObject({ journals: 1, lost: [{ file: 'j5-lost.parquet', events: 6 }] });
  const ids = [...idsFrom('a', 'b', 'c', 'd'), 'e6', 'e7', 'e8', 'e9'];
  expect(await answered(dataDir)).toEqual({ ids, withoutLog: [], unreadable: 6 });
});

test('what a repair that was killed has left is no obstacle', async () => {
  const { dataDir } = await filledFolder();
  rmSync(join(dataDir, CATALOG));
  writeFileSync(join(dataDir, `${CATALOG}.new`), 'x'.repeat(9_000));
  expect(await repaired(dataDir)).toMatchObject({ kind: 'rebuilt', segments: 2 });
  expect(await answered(dataDir)).toEqual({ ids: ALL_IDS, withoutLog: [], unreadable: 0 });
});

test('a folder that a program has open is not repaired', async () => {
  const { dataDir } = await filledFolder();
  await embeddedStoreIn(dataDir);
  await expect(repaired(dataDir)).rejects.toMatchObject({ code: 'folder_in_use' });
});

test('in a folder without events there is nothing to repair', async () => {
  const dataDir = temporaryFolder();
  expect(await repaired(dataDir)).toEqual({ kind: 'none' });
  expect(existsSync(join(dataDir, CATALOG))).toBe(false);
});
