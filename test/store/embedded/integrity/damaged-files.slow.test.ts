import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import { rowsOf } from '../../../fixtures/answered-rows.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { wholeFeed } from '../feed/whole-feed.ts';
import { event, HOUR, NOW, rowsPlan } from '../stored-events.ts';

const ZONES = [7, 8, 9];
const LONGEST = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

/** Events of three zones, with texts of which no two are alike. */
function eventsOf(prefix: string, startMs: number, count: number): CanonicalEvent[] {
  return Array.from({ length: count }, (_, index) =>
    event(`${prefix}${index}`, startMs + index, {
      shieldZoneId: ZONES[index % ZONES.length] as number,
      url: `/${prefix}/${index * 7_919}`,
      log: { line: `${prefix}-${index}` },
    }),
  );
}

const SERIES = [eventsOf('a', NOW - 30 * HOUR, 300), eventsOf('b', NOW - 30 * HOUR + 1_000, 300), eventsOf('c', NOW - HOUR, 300)];
const ALL = new Map(SERIES.flat().map((one) => [one.logId, one]));

/** A folder with one merged segment, a fresh one, and three blob files. */
async function filledFolder(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  for (const [index, events] of SERIES.entries()) {
    await store.append(canonicalBatch(events));
    await store.flushNow();
    if (index === 1) {
      await store.compactNow();
    }
  }
  await store.close();
  return dataDir;
}

interface Answer {
  readonly ids: readonly string[];
  /** The events whose log is not there. */
  readonly withoutLog: readonly string[];
  readonly unreadable: number;
}

/** Asks for all events of a zone in rows, counts and the feed, which agree, and compares each with what was stored. */
async function askedAll(store: OpenStore, zones: readonly number[] | 'all'): Promise<Answer> {
  const ids: string[] = [];
  const withoutLog: string[] = [];
  for (let index = 0; index === 0 || ids.length === index * 500; index += 1) {
    const found = await store.search(rowsPlan({ zones, page: { index, size: 500 } }));
    for (const { logId, zoneId, timestamp, fields, logJson } of await rowsOf(found)) {
      const stored = ALL.get(logId);
      expect({ zoneId, timestamp, url: fields['url'] }).toEqual({
        zoneId: stored?.shieldZoneId,
        timestamp: stored?.timestamp,
        url: stored?.url,
      });
      if (logJson === '{}') withoutLog.push(logId);
      else expect(logJson).toBe(JSON.stringify(stored?.log));
      ids.push(logId);
    }
  }
  const groups = await store.search(rowsPlan({ zones, output: { kind: 'groups', by: ['url'], buckets: 0 } }));
  expect([groups.kind, groups.total]).toEqual(['groups', new Set(ids).size]);
  const feed = (await wholeFeed(store, { zones, limit: 500 })).map(({ logId }) => logId);
  expect(feed.toSorted()).toEqual(ids.toSorted());
  return { ids: ids.toSorted(), withoutLog, unreadable: store.unreadableEvents(zones, LONGEST) };
}

const idsOfZones = (zones: readonly number[] | 'all') =>
  [...ALL.values()].filter(({ shieldZoneId }) => zones === 'all' || zones.includes(shieldZoneId)).map(({ logId }) => logId);

/** What an answer has to be while at most one file is damaged: what is missing is counted, and what is there is right and there once. */
function expectHonest({ ids, unreadable }: Answer, zones: readonly number[] | 'all'): void {
  const expected = idsOfZones(zones);
  expect(new Set(ids).size).toBe(ids.length);
  expect(expected).toEqual(expect.arrayContaining([...ids]));
  expect(ids.length + unreadable).toBe(expected.length);
}

const flipped = (content: Buffer, at: number): Buffer => {
  const changed = Buffer.from(content);
  changed[at] = (changed[at] as number) ^ (1 << (at % 8));
  return changed;
};

const DAMAGE: Readonly<Record<string, (content: Buffer) => Buffer | undefined>> = {
  'is missing': () => undefined,
  'has no bytes': () => Buffer.alloc(0),
  'is cut off': (content) => content.subarray(0, content.length - 1),
  'has a byte more': (content) => Buffer.concat([content, Buffer.alloc(1)]),
  'is zeros': (content) => Buffer.alloc(content.length),
  'has zeros in its middle': (content) => Buffer.from(content).fill(0, Math.floor(content.length / 4), Math.floor(content.length / 2)),
};

function put(path: string, content: Buffer | undefined): void {
  if (content === undefined) rmSync(path);
  else writeFileSync(path, content);
}

const files = (dataDir: string) => readdirSync(join(dataDir, 'segments')).sort();

test('of flipped bits anywhere in any file none is answered: what is there is right, and what is not is counted', async () => {
  const filled = await filledFolder();
  const missing = { segment: 0, blobFile: 0 };
  for (const file of files(filled)) {
    const content = readFileSync(join(filled, 'segments', file));
    // Spread over the file, with its first and last bytes.
    for (const at of [
      0,
      5,
      ...Array.from({ length: 9 }, (_, part) => Math.floor(((part + 0.37) * content.length) / 9)),
      content.length - 1,
    ]) {
      const dataDir = temporaryFolder();
      cpSync(filled, dataDir, { recursive: true });
      writeFileSync(join(dataDir, 'segments', file), flipped(content, at));
      const store = await embeddedStoreIn(dataDir);
      const zones = [[7], [8, 9], 'all' as const][at % 3] as readonly number[] | 'all';
      const answer = await askedAll(store, zones);
      expectHonest(answer, zones);
      expectHonest(await askedAll(store, 'all'), 'all');
      if (file.includes('-log')) missing.blobFile += answer.withoutLog.length;
      else missing.segment += store.unreadableEvents('all', LONGEST);
      await store.close();
    }
  }
  expect(missing).toEqual({ segment: expect.any(Number), blobFile: expect.any(Number) });
  expect(Math.min(missing.segment, missing.blobFile)).toBeGreaterThan(0);
});

test.each(Object.keys(DAMAGE))('a file that %s takes its own events away, before a start and under a running program', async (name) => {
  const filled = await filledFolder();
  for (const file of files(filled)) {
    for (const isRunning of [false, true]) {
      const dataDir = temporaryFolder();
      cpSync(filled, dataDir, { recursive: true });
      const path = join(dataDir, 'segments', file);
      const content = readFileSync(path);
      if (!isRunning) put(path, DAMAGE[name]?.(content));
      const store = await embeddedStoreIn(dataDir);
      if (isRunning) put(path, DAMAGE[name]?.(content));
      const answer = await askedAll(store, 'all');
      expectHonest(answer, 'all');
      const isBlobFile = file.includes('-log');
      expect(answer.unreadable > 0).toBe(!isBlobFile);
      // What stands behind the end of a blob file is not read.
      if (isBlobFile) expect(answer.withoutLog.length > 0).toBe(name !== 'has a byte more');
      await store.close();
      expect(existsSync(path)).toBe(name !== 'is missing');

      // It is put back from a backup.
      writeFileSync(path, content);
      const again = await embeddedStoreIn(dataDir);
      expect(await askedAll(again, 'all')).toEqual({ ids: [...ALL.keys()].toSorted(), withoutLog: [], unreadable: 0 });
      await again.close();
    }
  }
});

test('damage that comes after the first answers is found by the next error, and its events are left out', async () => {
  const filled = await filledFolder();
  let found = 0;
  for (const file of files(filled).filter((one) => !one.includes('-log'))) {
    const dataDir = temporaryFolder();
    cpSync(filled, dataDir, { recursive: true });
    const store = await embeddedStoreIn(dataDir, { cachesCounts: false });
    expectHonest(await askedAll(store, 'all'), 'all');
    const path = join(dataDir, 'segments', file);
    // In place, so that the file that DuckDB has is damaged, too.
    const content = readFileSync(path);
    writeFileSync(path, content.fill(0xff, 4, content.length >> 1));
    const answer = await askedAll(store, 'all');
    expectHonest(answer, 'all');
    found += answer.unreadable;
    await store.close();
  }
  expect(found).toBe(ALL.size);
});

test('lost events that are sent again are stored, and a segment that comes back brings only the others', async () => {
  const filled = await filledFolder();
  const [merged = ''] = files(filled).filter((one) => one.startsWith('c'));
  const path = join(filled, 'segments', merged);
  const content = readFileSync(path);
  rmSync(path);
  const store = await embeddedStoreIn(filled);
  const again = [...(SERIES[0] as CanonicalEvent[]).slice(0, 100), ...(SERIES[2] as CanonicalEvent[]).slice(0, 50)];
  expect((await store.append(canonicalBatch(again))).duplicates).toBe(50);
  await store.flushNow();
  expect(await askedAll(store, 'all')).toMatchObject({ ids: { length: 400 }, unreadable: 600 });
  await store.close();
  writeFileSync(path, content);
  const whole = await embeddedStoreIn(filled);
  expect(await askedAll(whole, 'all')).toEqual({ ids: [...ALL.keys()].toSorted(), withoutLog: [], unreadable: 0 });
});

test('a damaged segment expires in its time, with its file and the logs of its events', async () => {
  const filled = await filledFolder();
  const [merged = ''] = files(filled).filter((one) => one.startsWith('c'));
  writeFileSync(join(filled, 'segments', merged), 'damaged');
  const store = await embeddedStoreIn(filled, { retentionMs: 20 * HOUR });
  await store.dropExpiredNow();
  expect(store.unreadableEvents('all', LONGEST)).toBe(0);
  expect(store.notes().join()).not.toContain('damaged');
  await store.close();
  expect(files(filled)).toHaveLength(2);
});

test('a program in which more than half of the files are missing does not start', async () => {
  const filled = await filledFolder();
  for (const file of files(filled).slice(0, 3)) rmSync(join(filled, 'segments', file));
  await expect(embeddedStoreIn(filled)).rejects.toMatchObject({
    code: 'corrupt',
    message: expect.stringMatching(/^DATA_DIR: 3 of 5 files of the catalog are missing or changed: .*; no file was changed/),
  });
});
