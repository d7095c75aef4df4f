import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkDataFolder } from '../../../../store/embedded/check/offline-check.ts';
import type { CheckLine } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { event, HOUR, NOW, storedIds } from '../stored-events.ts';

const batch = (prefix: string) =>
  canonicalBatch(Array.from({ length: 10 }, (_, nth) => event(`${prefix}${nth}`, NOW - 20 * HOUR + nth, { log: { of: prefix } })));

/** Three segments with their blob files, and two journals. */
async function filledFolder(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  for (const prefix of ['a', 'b', 'c']) {
    await store.append(batch(prefix));
    await store.flushNow();
  }
  await store.append(batch('d'));
  await store.append(batch('e'));
  await store.close();
  return dataDir;
}

type Fault = Omit<Extract<CheckLine, { kind: 'fault' }>, 'kind'>;
type Summary = Omit<Extract<CheckLine, { kind: 'summary' }>, 'kind'>;

async function told(lines: AsyncIterable<CheckLine>): Promise<{ readonly faults: readonly Fault[]; readonly summary: Summary }> {
  const faults: Fault[] = [];
  let summary: Summary | undefined;
  let doneBytes = 0;
  for await (const { kind, ...line } of lines) {
    if (kind === 'fault') faults.push(line as Fault);
    else if (kind === 'summary') summary = line as Summary;
    else {
      const { bytes, totalBytes } = line as Extract<CheckLine, { kind: 'progress' }>;
      expect(bytes).toBeGreaterThanOrEqual(doneBytes);
      expect(bytes).toBeLessThanOrEqual(totalBytes);
      doneBytes = bytes;
    }
  }
  if (summary === undefined) throw new Error('there is no summary');
  expect([summary.faults, summary.bytes]).toEqual([faults.length, doneBytes]);
  return { faults, summary };
}

function bytesOf(dataDir: string): Map<string, string> {
  const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(dataDir, path)).isFile());
  return new Map(paths.sort().map((path) => [path, readFileSync(join(dataDir, path), 'latin1')]));
}

const firstIn = (dataDir: string, folder: string, pattern: RegExp): string =>
  join(folder, readdirSync(join(dataDir, folder)).find((name) => pattern.test(name)) ?? '');

function flipBit(path: string, at: number): void {
  const content = readFileSync(path);
  content[at] = (content[at] as number) ^ 1;
  writeFileSync(path, content);
}

test('a whole folder has no fault, and is not changed', async () => {
  const dataDir = await filledFolder();
  const before = bytesOf(dataDir);
  const { faults, summary } = await told(checkDataFolder(dataDir));
  expect(faults).toEqual([]);
  expect(summary).toMatchObject({ folder: dataDir, events: 50, faults: 0, files: 1 + 3 + 3 + 2 });
  const after = bytesOf(dataDir);
  for (const [path, content] of before) expect([path, after.get(path)]).toEqual([path, content]);
  expect(await storedIds(await embeddedStoreIn(dataDir))).toHaveLength(50);
});

const SEGMENT = /^j1-.*-0\.parquet$/;
const BLOB_FILE = /^j2-.*-log\.parquet$/;
const AS_WRITTEN = /^its bytes from \d+ to \d+ are not as they were written$/;

interface Damage {
  readonly file: (dataDir: string) => string;
  readonly change: (path: string) => void;
  readonly fault: RegExp;
  readonly events: number | null;
}

const flipAt = (at: number) => (path: string) => flipBit(path, at);

const DAMAGES: Readonly<Record<string, Damage>> = {
  'a segment with another bit': {
    file: (dataDir) => firstIn(dataDir, 'segments', SEGMENT),
    change: flipAt(200),
    fault: AS_WRITTEN,
    events: 10,
  },
  'a segment that is missing': {
    file: (dataDir) => firstIn(dataDir, 'segments', SEGMENT),
    change: (path) => rmSync(path),
    fault: /^ENOENT/,
    events: 10,
  },
  'a blob file with another bit': {
    file: (dataDir) => firstIn(dataDir, 'segments', BLOB_FILE),
    change: flipAt(30),
    fault: /^the page at byte 4 is not as it was written$/,
    events: 10,
  },
  'a blob file with another bit in its footer': {
    file: (dataDir) => firstIn(dataDir, 'segments', BLOB_FILE),
    change: flipAt(60),
    fault: /^its footer cannot be read: /,
    events: 10,
  },
  'a blob file that is missing': {
    file: (dataDir) => firstIn(dataDir, 'segments', BLOB_FILE),
    change: (path) => rmSync(path),
    fault: /^ENOENT/,
    events: 10,
  },
  'a journal with another bit': {
    file: () => join('journal', '000000000004.parquet'),
    change: flipAt(100),
    fault: /^it is not whole/,
    events: 10,
  },
  'dead letters that are no database': {
    file: () => 'dead-letters.sqlite',
    change: (path) => writeFileSync(path, 'x'.repeat(9_000)),
    fault: /not a database/,
    events: null,
  },
};

test.each(Object.entries(DAMAGES))(
  '%s is the one fault of a folder that no program has open',
  async (_, { file, change, fault, events }) => {
    const dataDir = await filledFolder();
    change(join(dataDir, file(dataDir)));
    const name = file(await filledFolder()).replace(/-[a-z0-9]+-(?=\d|log)/, '-.*-');
    const { faults } = await told(checkDataFolder(dataDir));
    expect(faults).toEqual([{ file: expect.stringMatching(new RegExp(name)), fault: expect.stringMatching(fault), events }]);
  },
);

test.each(Object.entries(DAMAGES))('%s is the one fault of a store that is open', async (_, { file, change, fault, events }) => {
  const dataDir = await filledFolder();
  const store = await embeddedStoreIn(dataDir);
  const damaged = file(dataDir);
  change(join(dataDir, damaged));
  const { faults } = await told(store.check());
  expect(faults).toEqual([{ file: damaged, fault: expect.stringMatching(fault), events }]);
  // A damaged segment is not used from then on; a second check tells it again.
  const isSegment = SEGMENT.test(damaged.replace(/^segments./, ''));
  expect(store.unreadableEvents('all', { fromMs: 0, toMs: NOW })).toBe(isSegment ? 10 : 0);
  expect((await told(store.check())).faults).toEqual(faults);
});

test('files that are flushed, merged or expire while a check goes on are no fault', async () => {
  const dataDir = await filledFolder();
  let now = NOW;
  const store = await embeddedStoreIn(dataDir, { now: () => now });
  const lines = store.check();
  const seen: CheckLine[] = [];
  const steps = [
    () => store.flushNow(),
    () => store.compactNow(),
    async () => {
      now += 80 * HOUR;
      await store.dropExpiredNow();
      await store.flushNow();
    },
  ];
  for await (const line of lines) {
    seen.push(line);
    await steps.shift()?.();
  }
  expect(steps).toEqual([]);
  expect(seen.filter(({ kind }) => kind === 'fault')).toEqual([]);
  // Of the first segment, which was read before it was merged.
  expect(seen.at(-1)).toMatchObject({ kind: 'summary', faults: 0, events: 10 });
});

test('a catalog that is missing is a fault, and the rest that needs none is checked', async () => {
  const dataDir = await filledFolder();
  rmSync(join(dataDir, 'catalog.sqlite'));
  flipBit(join(dataDir, 'journal', '000000000004.parquet'), 100);
  const { faults, summary } = await told(checkDataFolder(dataDir));
  expect(faults).toEqual([
    { file: 'catalog.sqlite', fault: 'it is missing or has no tables, and there are events', events: null },
    { file: join('journal', '000000000004.parquet'), fault: expect.stringMatching(/^it is not whole/), events: 10 },
  ]);
  expect(summary.events).toBe(10);
});

test('a catalog that is damaged or older than its files is a fault', async () => {
  const dataDir = await filledFolder();
  const older = temporaryFolder();
  cpSync(join(dataDir, 'catalog.sqlite'), join(older, 'catalog.sqlite'));
  const store = await embeddedStoreIn(dataDir);
  await store.flushNow();
  await store.close();
  cpSync(join(older, 'catalog.sqlite'), join(dataDir, 'catalog.sqlite'));
  const [found] = (await told(checkDataFolder(dataDir))).faults;
  expect(found).toMatchObject({ file: 'catalog.sqlite', fault: expect.stringMatching(/was written later than/) });
  writeFileSync(join(dataDir, 'catalog.sqlite'), 'x'.repeat(9_000));
  const [worse] = (await told(checkDataFolder(dataDir))).faults;
  expect(worse).toMatchObject({ file: 'catalog.sqlite', fault: expect.stringMatching(/is damaged: file is not a database$/) });
});

test('no program opens a folder while it is checked', async () => {
  const dataDir = await filledFolder();
  const lines = checkDataFolder(dataDir);
  await lines.next();
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({ code: 'folder_in_use' });
  await lines.return(undefined);
  expect(await storedIds(await embeddedStoreIn(dataDir))).toHaveLength(50);
  await expect(checkDataFolder(dataDir).next()).rejects.toMatchObject({ code: 'folder_in_use' });
});

test('a folder that no program ever had is not checked', async () => {
  await expect(checkDataFolder(temporaryFolder()).next()).rejects.toMatchObject({ code: 'folder_unusable' });
});
