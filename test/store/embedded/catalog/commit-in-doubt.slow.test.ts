import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { OpenStore } from '../../../../store/embedded/open-store.ts';
import { CommitInDoubtError } from '../../../../store/sqlite-transaction.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import { eventSeries, HOUR, idsOf, NOW, storedIds } from '../stored-events.ts';

afterEach(() => vi.restoreAllMocks());

/** SQLITE_IOERR_FSYNC, SQLITE_IOERR_WRITE and SQLITE_FULL. */
const [SYNC_FAILED, WRITE_FAILED, FULL] = [1_034, 778, 13] as const;

/** The next commit of this process is carried out or not, and fails with one of SQLite's codes. */
function failNextCommit(errcode: number, isCarriedOut: boolean): void {
  const exec = DatabaseSync.prototype.exec;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    if (sql !== 'COMMIT') return exec.call(this, sql);
    spy.mockRestore();
    exec.call(this, isCarriedOut ? 'COMMIT' : 'ROLLBACK');
    throw Object.assign(new Error('disk I/O error'), { errcode });
  });
}

const OLD = ['a', 'b', 'c'].flatMap((prefix, index) => eventSeries(prefix, 10, NOW - 20 * HOUR + index, 1));

/** What may be under way when a commit fails, each with what it begins with. */
const CHANGES: Readonly<Record<string, { readonly flushes: number; readonly change: (store: OpenStore) => Promise<unknown> }>> = {
  'a flush': { flushes: 2, change: (store) => store.flushNow() },
  'a merge': { flushes: 3, change: (store) => store.compactNow() },
  'the retention': { flushes: 3, change: (store) => store.dropExpiredNow() },
  'a batch without a new event': { flushes: 3, change: (store) => store.append(canonicalBatch(OLD.slice(0, 10))) },
};

async function filled(dataDir: string, flushes: number, onFatal: (error: Error) => void) {
  const clock = { now: NOW };
  const store = await embeddedStoreIn(dataDir, { now: () => clock.now, onFatal });
  for (let batch = 0; batch < 3; batch += 1) {
    await store.append(canonicalBatch(OLD.slice(10 * batch, 10 * batch + 10)));
    if (batch < flushes) await store.flushNow();
  }
  return { store, clock };
}

const filesOf = (dataDir: string) => ['segments', 'journal'].flatMap((folder) => readdirSync(join(dataDir, folder)).sort());

describe.each(Object.entries(CHANGES))('where the commit of %s fails with an I/O error', (what, { flushes, change }) => {
  test.each([
    ['has been carried out', SYNC_FAILED, true],
    ['has not been carried out', SYNC_FAILED, false],
    ['could not be written', WRITE_FAILED, false],
  ])('and %s, no file is removed, nothing more is changed, and the next start has every event once', async (_, errcode, isCarriedOut) => {
    const dataDir = temporaryFolder();
    const onFatal = vi.fn();
    const { store, clock } = await filled(dataDir, flushes, onFatal);
    const before = filesOf(dataDir);
    clock.now = what === 'the retention' ? NOW + 60 * HOUR : NOW;
    failNextCommit(errcode, isCarriedOut);
    // A flush that fails is tried again for as long as the program runs.
    void change(store).catch(() => undefined);
    await expect.poll(() => onFatal.mock.calls).toEqual([[expect.any(CommitInDoubtError)]]);
    expect(filesOf(dataDir)).toEqual(expect.arrayContaining(before));
    if (what.startsWith('a batch')) {
      await expect(store.append(canonicalBatch(OLD.slice(0, 1)))).rejects.toMatchObject({ code: 'append_failed' });
    }
    // The program ends here; what another one finds is in the copy.
    const copy = temporaryFolder();
    cpSync(dataDir, copy, { recursive: true });
    const next = await embeddedStoreIn(copy, { now: () => NOW });
    const isGone = what === 'the retention' && isCarriedOut;
    expect((await storedIds(next)).sort()).toEqual(isGone ? [] : idsOf(OLD).sort());
    expect(onFatal).toHaveBeenCalledTimes(1);
  });
});

test('a commit for which the disk is full is made again, and the program goes on', async () => {
  const dataDir = temporaryFolder();
  const onFatal = vi.fn();
  const { store } = await filled(dataDir, 2, onFatal);
  failNextCommit(FULL, false);
  await store.flushNow();
  expect(await store.stats()).toMatchObject({ unflushedEvents: 0, events: 30 });
  expect((await storedIds(store)).sort()).toEqual(idsOf(OLD).sort());
  expect(onFatal).not.toHaveBeenCalled();
});
