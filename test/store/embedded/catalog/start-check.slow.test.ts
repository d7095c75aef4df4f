import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../../../../store/event-store.ts';
import { StoreError } from '../../../../store/store-error.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { eventSeries, HOUR, idsOf, NOW, storedIds } from '../stored-events.ts';

const CATALOG = 'catalog.sqlite';

function copyOf(dataDir: string, copy = temporaryFolder()): string {
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}

/** What the tests of this file share goes with the file. */
const shared = mkdtempSync(join(tmpdir(), 'shieldlog-start-check-'));
afterAll(() => rmSync(shared, { recursive: true, force: true }));

const sharedFolder = (): string => mkdtempSync(join(shared, 'folder-'));

const partsOf = (dataDir: string, folder: 'segments' | 'journal') => readdirSync(join(dataDir, folder)).sort();

/** The content of every file, by its path. */
function contentOf(dataDir: string): Map<string, string> {
  const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(dataDir, path)).isFile());
  return new Map(files.map((path) => [path, readFileSync(join(dataDir, path), 'latin1')]));
}

/** Old enough that three segments of them are merged. */
const ALL = ['a', 'b', 'c', 'd', 'e'].flatMap((prefix, index) => eventSeries(prefix, 10, NOW - 20 * HOUR + 100 * index, 1));
const ALL_IDS = idsOf(ALL).sort();

/** Copies of one data folder at several moments, each made while no program runs. No test changes them: each takes a copy. */
interface Life {
  /** No events. */
  readonly fresh: string;
  /** Ten events in a segment. */
  readonly flushed: string;
  /** Ten more, in a journal. */
  readonly appended: string;
  /** All twenty in two segments. */
  readonly flushedAgain: string;
  /** Thirty in three segments. */
  readonly flushedThrice: string;
  /** All thirty in one segment, which a merge wrote. */
  readonly merged: string;
  /** Ten more in a segment, and the last ten in a journal. */
  readonly full: string;
}

/** How the program ended before each copy. After a kill the last commits are in the catalog's write-ahead log. */
type End = 'stopped' | 'killed';

const lives: Partial<Record<End, Promise<Life>>> = {};

/** The life of a folder whose program ended so. It is lived once. */
function lifeOfFolder(end: End): Promise<Life> {
  lives[end] ??= liveInFolder(end);
  return lives[end];
}

/** A copy of a folder as it was at this moment. */
async function folderAt(moment: keyof Life, end: End = 'stopped'): Promise<string> {
  return copyOf((await lifeOfFolder(end))[moment]);
}

async function liveInFolder(end: End): Promise<Life> {
  const dataDir = sharedFolder();
  const after = async (...steps: readonly ('append' | 'flush' | 'merge')[]): Promise<string> => {
    const store = await embeddedStoreIn(dataDir);
    for (const step of steps) {
      if (step === 'append') {
        const { events } = await store.stats();
        await store.append(canonicalBatch(ALL.slice(events, events + 10)));
      } else {
        await (step === 'flush' ? store.flushNow() : store.compactNow());
      }
    }
    const killed = copyOf(dataDir, sharedFolder());
    await store.close();
    return end === 'killed' ? killed : copyOf(dataDir, sharedFolder());
  };
  return {
    fresh: await after(),
    flushed: await after('append', 'flush'),
    appended: await after('append'),
    flushedAgain: await after('flush'),
    flushedThrice: await after('append', 'flush'),
    merged: await after('merge'),
    full: await after('append', 'flush', 'append'),
  };
}

function takeCatalogOf(dataDir: string, from: string): void {
  for (const suffix of ['', '-wal']) {
    rmSync(join(dataDir, `${CATALOG}${suffix}`), { force: true });
    if (existsSync(join(from, `${CATALOG}${suffix}`))) cpSync(join(from, `${CATALOG}${suffix}`), join(dataDir, `${CATALOG}${suffix}`));
  }
}

/** How many events the folder has at a moment. */
const EVENTS = { appended: 20, flushedAgain: 20, merged: 30, full: 50 } as const;

interface Refusal {
  readonly moment: keyof typeof EVENTS;
  /** Takes something from a whole folder. */
  readonly damage: (dataDir: string, life: Life) => void;
  readonly message: RegExp;
}

const LOST = /^DATA_DIR: ".*" holds events, and its catalog ".*catalog\.sqlite" is missing or has no tables; no file was changed; move its/;
const OLDER =
  /^DATA_DIR: ".*\.parquet" was written later than ".*catalog\.sqlite", and its events may be nowhere else; no file was changed/;
const DAMAGED = /^DATA_DIR: the catalog ".*catalog\.sqlite" is damaged: .*; no file was changed; move its catalog\.sqlite-wal away/s;

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'is missing beside segments': { moment: 'merged', damage: (dataDir) => rmSync(join(dataDir, CATALOG)), message: LOST },
  'is missing beside journals': {
    moment: 'appended',
    damage: (dataDir) => {
      rmSync(join(dataDir, CATALOG));
      rmSync(join(dataDir, 'segments'), { recursive: true });
    },
    message: LOST,
  },
  'has no bytes': { moment: 'full', damage: (dataDir) => truncateSync(join(dataDir, CATALOG)), message: LOST },
  'was copied without its write-ahead log': {
    moment: 'full',
    damage: (dataDir, { fresh }) => {
      rmSync(join(dataDir, `${CATALOG}-wal`), { force: true });
      cpSync(join(fresh, CATALOG), join(dataDir, CATALOG));
    },
    message: /journal 1 is missing, journal 5 is there; no file was changed; move its catalog\.sqlite-wal/,
  },
  'has no tables': {
    moment: 'full',
    damage: (dataDir) => {
      rmSync(join(dataDir, CATALOG));
      const database = new DatabaseSync(join(dataDir, CATALOG));
      database.exec('PRAGMA journal_mode = WAL');
      database.close();
    },
    message: LOST,
  },
  'is another file': { moment: 'full', damage: (dataDir) => writeFileSync(join(dataDir, CATALOG), 'x'.repeat(9_000)), message: DAMAGED },
  'has a page that was overwritten': {
    moment: 'full',
    damage: (dataDir) => {
      const path = join(dataDir, CATALOG);
      // A write-ahead log has a whole page in its place.
      new DatabaseSync(path).close();
      rmSync(`${path}-wal`, { force: true });
      writeFileSync(path, readFileSync(path).fill(0xff, 4_096, 8_192));
    },
    message: DAMAGED,
  },
  'is older than a flush': { moment: 'flushedAgain', damage: (dataDir, { flushed }) => takeCatalogOf(dataDir, flushed), message: OLDER },
  'is older than a merge': {
    moment: 'merged',
    damage: (dataDir, { flushedThrice }) => takeCatalogOf(dataDir, flushedThrice),
    message: /may be older than its files: ENOENT.*, and ".*c1-.*\.parquet" may hold its events; no file was changed/,
  },
  'is older than a merge of segments that it never had': {
    moment: 'merged',
    damage: (dataDir, life) => {
      // What a catalog from before the first flush has beside it: its journals are gone, and the blob files were taken away.
      takeCatalogOf(dataDir, life.fresh);
      for (const name of partsOf(dataDir, 'segments').filter((one) => one.startsWith('j'))) rmSync(join(dataDir, 'segments', name));
    },
    message: OLDER,
  },
  'is older than the journals that were removed after a flush': {
    moment: 'full',
    damage: (dataDir, { flushedAgain }) => takeCatalogOf(dataDir, flushedAgain),
    message: /may be older than its files|journal \d is missing, journal \d is there/,
  },
};

describe.each<End>(['stopped', 'killed'])('after the program was %s a start is refused, and changes no file, where the catalog', (end) => {
  test.each(Object.entries(REFUSALS))('%s', async (_, { moment, damage, message }) => {
    const life = await lifeOfFolder(end);
    const dataDir = copyOf(life[moment]);
    damage(dataDir, life);
    const before = contentOf(dataDir);
    await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({ code: 'corrupt', message: expect.stringMatching(message) });
    expect(contentOf(dataDir)).toEqual(before);
    // Nothing was lost: with what it had the folder has every event once.
    copyOf(life[moment], dataDir);
    expect((await storedIds(await embeddedStoreIn(dataDir))).sort()).toEqual(ALL_IDS.slice(0, EVENTS[moment]));
  });
});

describe('files that the catalog does not name', () => {
  test('are removed at the start where their journals are there, as after a kill in a flush', async () => {
    const { appended, flushedAgain } = await lifeOfFolder('stopped');
    const dataDir = copyOf(appended);
    const published = partsOf(dataDir, 'segments');
    cpSync(join(flushedAgain, 'segments'), join(dataDir, 'segments'), { recursive: true });
    writeFileSync(join(dataDir, 'segments', 'j2-x-1.parquet.tmp'), 'half');
    writeFileSync(join(dataDir, 'spill', 'duckdb_temp_block-1.block'), 'spilled');
    const store = await embeddedStoreIn(dataDir);
    expect(partsOf(dataDir, 'segments')).toEqual(published);
    expect(readdirSync(join(dataDir, 'spill'))).toEqual([]);
    expect((await storedIds(store)).sort()).toEqual(ALL_IDS.slice(0, 20));
  });

  test('are removed at the start where a merge replaced them, as after a kill in a merge', async () => {
    const { flushedThrice, merged } = await lifeOfFolder('stopped');
    const dataDir = copyOf(merged);
    cpSync(join(flushedThrice, 'segments'), join(dataDir, 'segments'), { recursive: true });
    const store = await embeddedStoreIn(dataDir);
    expect(partsOf(dataDir, 'segments')).toEqual(partsOf(merged, 'segments'));
    expect((await storedIds(store)).sort()).toEqual(ALL_IDS.slice(0, 30));
  });

  test('stay where a file that the catalog names is missing', async () => {
    const dataDir = await folderAt('flushedAgain');
    rmSync(join(dataDir, 'segments', partsOf(dataDir, 'segments')[0] ?? ''));
    writeFileSync(join(dataDir, 'segments', 'j1-x-0.parquet'), 'of an earlier attempt');
    const before = contentOf(dataDir);
    await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({ code: 'corrupt' });
    expect(contentOf(dataDir)).toEqual(before);
  });

  test('stay where they are not of the store', async () => {
    const full = await folderAt('full');
    writeFileSync(join(full, 'segments', 'notes.parquet'), 'of somebody');
    await embeddedStoreIn(full);
    expect(partsOf(full, 'segments')).toContain('notes.parquet');
  });
});

describe('a journal that is set aside', () => {
  async function withTornJournal(): Promise<string> {
    const full = await folderAt('full');
    const torn = partsOf(full, 'journal').find((name) => name.endsWith('.parquet')) ?? '';
    const path = join(full, 'journal', torn);
    const content = readFileSync(path);
    content[100] = (content[100] as number) ^ 1;
    writeFileSync(path, content);
    await (await embeddedStoreIn(full)).close();
    return full;
  }

  test('has its bytes for as long as events are kept', async () => {
    const dataDir = await withTornJournal();
    const names = partsOf(dataDir, 'journal');
    expect(names.map((name) => name.replace(/^damaged-\d+-/, ''))).toEqual(['000000000005.logs', '000000000005.parquet']);
    const later = await embeddedStoreIn(dataDir, { now: () => NOW + 71 * HOUR });
    await later.dropExpiredNow();
    expect(partsOf(dataDir, 'journal')).toEqual(names);
    await later.close();
    const muchLater = await embeddedStoreIn(dataDir, { now: () => NOW + 73 * HOUR });
    await muchLater.dropExpiredNow();
    expect(partsOf(dataDir, 'journal')).toEqual([]);
  });

  test('takes no number: the next batch has it, and both are kept', async () => {
    const dataDir = await withTornJournal();
    const warn = vi.fn();
    const store = await embeddedStoreIn(dataDir, { logger: { ...silentLogger, warn } });
    await store.append(canonicalBatch(ALL.slice(40)));
    expect((await storedIds(store)).sort()).toEqual(ALL_IDS);
    await store.close();
    expect((await storedIds(await embeddedStoreIn(dataDir))).sort()).toEqual(ALL_IDS);
    expect(partsOf(dataDir, 'journal')).toHaveLength(4);
    expect(warn).not.toHaveBeenCalled();
  });
});

/** The ids in a folder, or the code of the error with which its start is refused. */
async function idsOrRefusal(dataDir: string): Promise<readonly string[] | string> {
  try {
    return (await storedIds(await embeddedStoreIn(dataDir))).sort();
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
}

describe('a catalog whose parts are of different times is refused, or loses nothing', () => {
  test('where it was put back beside a later write-ahead log', async () => {
    const dataDir = temporaryFolder();
    const before = await embeddedStoreIn(dataDir);
    await before.append(canonicalBatch(ALL.slice(0, 10)));
    await before.flushNow();
    await before.close();
    const older = copyOf(dataDir);
    const store = await embeddedStoreIn(dataDir);
    const killed: string[] = [];
    for (const from of [10, 20, 30]) {
      await store.append(canonicalBatch(ALL.slice(from, from + 10)));
      await store.flushNow();
      killed.push(copyOf(dataDir));
      await store.append(canonicalBatch([], { sourceOffsets: [{ topic: 't', partition: 0, nextOffset: BigInt(from) }] }));
      await store.flushNow();
      killed.push(copyOf(dataDir));
    }
    await store.close();
    for (const folder of killed) {
      const stored = (await storedIds(await embeddedStoreIn(copyOf(folder)))).sort();
      cpSync(join(older, CATALOG), join(folder, CATALOG));
      expect([stored, 'corrupt']).toContainEqual(await idsOrRefusal(folder));
    }
  });

  test('where a bit of its write-ahead log is flipped', async () => {
    const full = await folderAt('full', 'killed');
    const wal = readFileSync(join(full, `${CATALOG}-wal`));
    const stored = (await storedIds(await embeddedStoreIn(copyOf(full)))).sort();
    for (let at = 5; at < wal.length; at += 2_500) {
      const copy = copyOf(full);
      const changed = Buffer.from(wal);
      changed[at] = (changed[at] as number) ^ 4;
      writeFileSync(join(copy, `${CATALOG}-wal`), changed);
      const before = contentOf(copy);
      const ids = await idsOrRefusal(copy);
      expect([stored, 'corrupt'], `byte ${at}`).toContainEqual(ids);
      if (ids === 'corrupt') expect([at, contentOf(copy)]).toEqual([at, before]);
    }
  });

  test('where a bit of the catalog is flipped', async () => {
    const full = await folderAt('full');
    const catalog = readFileSync(join(full, CATALOG));
    const stored = (await storedIds(await embeddedStoreIn(copyOf(full)))).sort();
    // A prime, so that all parts of pages come.
    for (let at = 11; at < catalog.length; at += 1_609) {
      const copy = copyOf(full);
      const changed = Buffer.from(catalog);
      changed[at] = (changed[at] as number) ^ 16;
      writeFileSync(join(copy, CATALOG), changed);
      expect([stored, 'corrupt', 'folder_unusable'], `byte ${at}`).toContainEqual(await idsOrRefusal(copy));
    }
  });

  test.each([
    'UPDATE segments SET rows = rows + 1',
    'UPDATE segments SET min_timestamp = min_timestamp + 1 WHERE id = (SELECT max(id) FROM segments)',
    'UPDATE segments SET max_sequence = max_sequence - 1',
    "UPDATE segments SET damage = 'none'",
    'UPDATE segment_zones SET zone_id = zone_id + 1',
    'UPDATE segment_zones SET rows = rows - 1',
    'DELETE FROM segment_zones',
    'UPDATE blob_files SET text_bytes = 1',
    "UPDATE blob_files SET ingest_times = x'00'",
    "UPDATE progress SET value = value + 1 WHERE name = 'expired_events'",
    'UPDATE epochs SET first_sequence = 2',
    "INSERT INTO source_offsets (topic, partition, next_offset) VALUES ('t', 0, 7)",
    'INSERT INTO expired_watermarks (zone_id, run, sequence) VALUES (1, 1, 7)',
  ])('where somebody changed a row: %s', async (statement) => {
    const full = await folderAt('full');
    const database = new DatabaseSync(join(full, CATALOG));
    database.exec(statement);
    database.close();
    const before = contentOf(full);
    await expect(embeddedStoreIn(full)).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining('is damaged') });
    expect(contentOf(full)).toEqual(before);
  });

  test.each([
    ['further', 2],
    ['less far', -1],
  ])('where it says that journals are flushed %s than they are', async (_, by) => {
    const full = await folderAt('full', 'killed');
    const database = new DatabaseSync(join(full, CATALOG));
    database.exec(`UPDATE progress SET value = value + ${by} WHERE name = 'flushed_journal'`);
    database.close();
    const before = contentOf(full);
    await expect(embeddedStoreIn(full)).rejects.toMatchObject({ code: 'corrupt' });
    expect(contentOf(full)).toEqual(before);
  });
});

test('on a full disk a start goes on, and what a crash left is removed later', async () => {
  const appended = await folderAt('appended', 'killed');
  const { flushedAgain } = await lifeOfFolder('killed');
  const left = partsOf(flushedAgain, 'segments').filter((name) => !partsOf(appended, 'segments').includes(name));
  for (const name of left) cpSync(join(flushedAgain, 'segments', name), join(appended, 'segments', name));
  const original = DatabaseSync.prototype.exec;
  const full = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    if (!sql.includes('wal_checkpoint')) return original.call(this, sql);
    throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
  });
  const warn = vi.fn();
  const store = await embeddedStoreIn(appended, { logger: { ...silentLogger, warn } });
  full.mockRestore();
  expect((await storedIds(store)).sort()).toEqual(ALL_IDS.slice(0, 20));
  expect(partsOf(appended, 'segments')).toEqual(expect.arrayContaining(left));
  expect(warn.mock.calls.map(([, message]) => message)).toEqual(['the disk is full: what a crash left is removed at a later start']);
  await store.close();
  await embeddedStoreIn(appended);
  expect(partsOf(appended, 'segments')).not.toEqual(expect.arrayContaining(left));
});
