import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { copyCatalog } from '../../../../store/embedded/backup/catalog-copy.ts';
import { Catalog } from '../../../../store/embedded/catalog/catalog.ts';
import { sequenceOf } from '../../../../store/embedded/feed/feed-positions.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';

const PROGRESS = { flushedJournal: 3, nextSequence: 11n, sourceOffsets: [], expiredEvents: 0, duplicateEvents: 0 };

/** A catalog that a store has written, closed. */
function writtenCatalog(): string {
  const file = join(temporaryFolder(), 'catalog.sqlite');
  const catalog = new Catalog(file);
  catalog.apply({ add: [], remove: [], progress: PROGRESS });
  catalog.close();
  return file;
}

function opened(file: string): Catalog {
  const catalog = new Catalog(file);
  onTestFinished(() => catalog.close());
  return catalog;
}

/** A folder for a copy. */
function newFolder(): string {
  const dataDir = join(temporaryFolder(), 'data');
  mkdirSync(dataDir);
  return dataDir;
}

test('the copy of a catalog has no journals, also none without an event, and a store starts on it', async () => {
  const catalog = opened(writtenCatalog());
  // Journal 4 is not flushed, and nothing of journal 5 is new.
  catalog.emptyJournals.add({ number: 5, firstSequence: 20n, eventCount: 3, expiredCount: 0, ingestedAtMs: 0 });
  const dataDir = newFolder();
  expect(await copyCatalog(catalog, join(dataDir, 'catalog.sqlite'))).toEqual({ files: [], events: 0 });
  const store = await embeddedStoreIn(dataDir);
  expect(sequenceOf(await store.positions.newest())).toBe(10n);
});

test('a copy that meets a commit at its first step is made again', async () => {
  const catalog = opened(writtenCatalog());
  let copies = 0;
  const copyTo = async (file: string): Promise<void> => {
    copies += 1;
    // SQLite copies nothing where a commit is in the way.
    if (copies < 3) new DatabaseSync(file).close();
    else await catalog.copyTo(file);
  };
  await copyCatalog({ copyTo }, join(newFolder(), 'catalog.sqlite'));
  expect(copies).toBe(3);
});

test('the copy of a catalog that was changed is refused', async () => {
  const file = writtenCatalog();
  const database = new DatabaseSync(file);
  database.exec("UPDATE progress SET value = 9 WHERE name = 'next_sequence'");
  database.close();
  const copying = copyCatalog(opened(file), join(newFolder(), 'catalog.sqlite'));
  await expect(copying).rejects.toThrow('the copy of the catalog is damaged: its progress is not as it was written');
});
