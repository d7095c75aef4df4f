import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { EVENT_FIELDS_VERSION } from '../../../../query/event-fields.ts';
import { openCatalogDatabase } from '../../../../store/embedded/catalog/catalog-database.ts';
import { cursorText } from '../../../../store/embedded/feed/feed-positions.ts';
import { type FeedPosition, silentLogger } from '../../../../store/event-store.ts';
import { ANSWERS_OF_VERSION_6, fileOfVersion6, folderOfVersion6 } from '../../../fixtures/earlier-folder.ts';
import { FIRST_EPOCH, folderAnswers } from '../../../fixtures/folder-answers.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';

const catalogFile = (dataDir: string) => join(dataDir, 'catalog.sqlite');

/** Changes a catalog that no store has open. */
function alterCatalog(dataDir: string, statements: string): void {
  const catalog = new DatabaseSync(catalogFile(dataDir));
  catalog.exec(statements);
  catalog.close();
}

test('a folder of version 6 gives the same answers after its migration and after a restart, and its cursors stay valid', async () => {
  const dataDir = folderOfVersion6();
  for (let start = 0; start < 2; start += 1) {
    const store = await embeddedStoreIn(dataDir);
    expect(await folderAnswers(store)).toEqual(ANSWERS_OF_VERSION_6);
    for (const cursor of [...ANSWERS_OF_VERSION_6.cursors, ANSWERS_OF_VERSION_6.newestCursor]) {
      const position = (await store.positions.decode(cursor)) as FeedPosition;
      expect(cursorText(position, FIRST_EPOCH)).toBe(cursor);
    }
    await store.close();
  }
  for (const file of ['control-plane.sqlite', 'database.sqlite']) {
    expect(readFileSync(join(dataDir, file)).equals(fileOfVersion6(file))).toBe(true);
  }
});

test('a migrated catalog has the tables of a new one, and nothing under an earlier name is left', () => {
  const dataDir = folderOfVersion6();
  expect(readdirSync(join(dataDir, 'journal'))).toContain('spare-1');
  const [migrated, made] = [openCatalogDatabase(catalogFile(dataDir)), openCatalogDatabase(catalogFile(temporaryFolder()))];
  const tablesOf = (database: DatabaseSync): string[] =>
    database
      .prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'empty_journals' ORDER BY name")
      .all()
      .map(({ sql }) =>
        String(sql)
          .replaceAll('"', '')
          .replaceAll(/\s+/g, ' ')
          .replaceAll(/ ([,)])/g, '$1'),
      );
  expect(tablesOf(migrated)).toEqual(tablesOf(made));
  const namesOf = (database: DatabaseSync) => database.prepare('SELECT name FROM progress ORDER BY name').all();
  expect(namesOf(migrated)).toEqual(
    ['duplicate_events', 'event_fields_version', 'expired_events', 'flushed_journal', 'next_sequence', 'store_id'].map((name) => ({
      name,
    })),
  );
  expect(readdirSync(join(dataDir, 'journal')).filter((name) => !/^\d{12}\.(parquet|logs)$/.test(name))).toEqual([]);
  for (const database of [migrated, made]) database.close();
});

test('a migration is told once, with the versions', () => {
  const file = catalogFile(folderOfVersion6());
  const told: object[] = [];
  const logger = { ...silentLogger, info: (details: object, message: string) => told.push({ ...details, message }) };
  for (let start = 0; start < 2; start += 1) openCatalogDatabase(file, { holdsEvents: true, logger }).close();
  openCatalogDatabase(catalogFile(temporaryFolder()), { holdsEvents: false, logger }).close();
  const message = 'the data folder was brought to the version of this program; earlier ones refuse it from now on';
  expect(told).toEqual([{ from: 6, to: expect.any(Number), fromEventFields: 1, toEventFields: EVENT_FIELDS_VERSION, message }]);
});

test('a second start changes nothing', () => {
  const dataDir = folderOfVersion6();
  const changesOf = (database: DatabaseSync) => database.prepare('SELECT total_changes() AS changes').get()?.['changes'];
  const first = openCatalogDatabase(catalogFile(dataDir));
  expect(changesOf(first)).toBeGreaterThan(0);
  first.close();
  const content = readFileSync(catalogFile(dataDir));
  const second = openCatalogDatabase(catalogFile(dataDir));
  expect(changesOf(second)).toBe(0);
  second.close();
  expect(readFileSync(catalogFile(dataDir)).equals(content)).toBe(true);
});

test.each([
  [12, 'is of version 12; this program reads versions 6 to 11; open it with a newer program, or choose another folder'],
  [5, 'is of version 5; this program reads versions 6 to 11; open it with an older program, or choose another folder'],
])('a folder of version %i is refused and left as it is', async (version, message) => {
  const dataDir = folderOfVersion6();
  alterCatalog(dataDir, `PRAGMA user_version = ${version}`);
  const content = readFileSync(catalogFile(dataDir));
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({
    name: 'StoreError',
    code: 'folder_unusable',
    message: `DATA_DIR: ${JSON.stringify(dataDir)} ${message}`,
  });
  expect(readFileSync(catalogFile(dataDir)).equals(content)).toBe(true);
  expect(readdirSync(join(dataDir, 'journal'))).toContain('spare-1');
});

test('a folder with event fields that this program does not know is refused', async () => {
  const dataDir = temporaryFolder();
  await (await embeddedStoreIn(dataDir)).close();
  alterCatalog(dataDir, "UPDATE progress SET value = 99 WHERE name = 'event_fields_version'");
  const message = /^DATA_DIR: ".*" has the event fields of version 99; this program has version \d+, and would lose fields of events; open/;
  await expect(embeddedStoreIn(dataDir)).rejects.toMatchObject({
    code: 'folder_unusable',
    message: expect.stringMatching(message),
  });
});

test('a folder with the event fields of an earlier program gets the present version', () => {
  const dataDir = temporaryFolder();
  openCatalogDatabase(catalogFile(dataDir)).close();
  alterCatalog(dataDir, "UPDATE progress SET value = 0 WHERE name = 'event_fields_version'");
  const database = openCatalogDatabase(catalogFile(dataDir));
  expect(database.prepare("SELECT value FROM progress WHERE name = 'event_fields_version'").get()).toEqual({ value: EVENT_FIELDS_VERSION });
  database.close();
});
