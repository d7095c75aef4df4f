import { describe, expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../query/durations.ts';
import { SharedDeadLetters } from '../../store/clickhouse/intake/dead-letters.ts';
import { migrateSchema, SCHEMA_VERSION } from '../../store/clickhouse/schema.ts';
import { ClickhouseClient } from '../../store/clickhouse/server/client.ts';
import type { ClickhouseAddress } from '../../store/clickhouse/server/connection.ts';
import { silentLogger } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { COLUMNS, earlierId, FIRST_DAY, MANY_DAYS, makeEarlier } from './earlier-letters.ts';
import { testDatabase } from './engine.ts';

const FEW_DAYS = 3;

/** The letters of those days that are moved. */
const movedOf = (days: number): readonly (readonly unknown[])[] => [
  ...Array.from({ length: days }, (_, day) => ['http', 7, null, `${day}`]),
  ['http', 7, null, 'twice'],
  ['http', 1, null, 'of zone 1'],
  ['http', 2, null, 'of zone 2'],
  ['kafka', null, 3, ''],
];
const MOVED = movedOf(FEW_DAYS);
/** The two with one id come in any order. */
const sorted = (letters: readonly unknown[]) => letters.map((letter) => JSON.stringify(letter)).sort();

interface EarlierStore {
  readonly address: ClickhouseAddress;
  readonly client: ClickhouseClient;
  run(statement: string): Promise<void>;
  letters(): Promise<readonly unknown[]>;
  tables(): Promise<readonly unknown[]>;
}

/** A database of an earlier version with those letters. */
async function earlierStore(version: 1 | 2 = 2, days = FEW_DAYS): Promise<EarlierStore> {
  const { name, url } = await testDatabase();
  const address = { urls: [url], user: 'default', password: '', database: name };
  await migrateSchema(address);
  const client = new ClickhouseClient(address);
  onTestFinished(() => client.close());
  const run = (text: string) => client.run({ text, params: [] });
  const rows = async (text: string) => (await client.read({ text, params: [] })).rows;
  await makeEarlier(run, version, days);
  return {
    address,
    client,
    run,
    letters: async () => {
      const shared = new SharedDeadLetters({ client, quotaBytes: 1024 ** 2, sharesEveryMs: 10_000, logger: silentLogger });
      const listed = await shared.list({ zones: 'all', limit: 1_000 });
      expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
      return listed.map(({ source, zoneId, index, bytes }) => [source, zoneId, index, Buffer.from(bytes).toString()]);
    },
    tables: async () =>
      (await rows("SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE '%letters'")).flat().sort(),
  };
}

const LETTER_TABLES = ['letters', 'removed_letters'];

async function expectMoved(store: EarlierStore, moved = MOVED): Promise<void> {
  expect(await store.tables()).toEqual(LETTER_TABLES);
  expect(sorted(await store.letters())).toEqual(sorted(moved));
}

/** Earlier stores on which a migration was cut, one after each of its statements, with the statements that are left. */
async function* cutMigrations() {
  for (let done = 1; ; done += 1) {
    const store = await earlierStore();
    const { statements } = await migrateSchema(store.address, { isDryRun: true });
    if (done > statements.length) return;
    for (const statement of statements.slice(0, done)) await store.run(statement);
    yield { store, left: statements.slice(done) };
  }
}

describe('letters of version 2', () => {
  test('of many days move in their order with all that is known of them, and removed ones do not', async () => {
    const store = await earlierStore(2, MANY_DAYS);
    const moved = movedOf(MANY_DAYS);
    expect(await migrateSchema(store.address)).toMatchObject({ from: 2, to: SCHEMA_VERSION });
    await expectMoved(store, moved);
    expect((await store.letters()).slice(0, MANY_DAYS + 1)).toEqual(moved.slice(0, MANY_DAYS + 1));
    expect(await migrateSchema(store.address)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION, statements: [] });
  });

  test('move from tables of version 1, whose letters have no index', async () => {
    const store = await earlierStore(1);
    expect(await migrateSchema(store.address)).toMatchObject({ from: 1, to: SCHEMA_VERSION });
    expect(sorted(await store.letters())).toEqual(sorted([...MOVED.slice(0, -1), ['kafka', null, null, '']]));
  });

  test('are moved once by a migration that is cut after any statement, made again by another program, and gone on with', async () => {
    for await (const { store, left } of cutMigrations()) {
      await migrateSchema(store.address);
      await expectMoved(store);
      // The first program goes on until one of its statements fails, and then looks what there is to do.
      for (const statement of left) {
        if (
          !(await store.run(statement).then(
            () => true,
            () => false,
          ))
        )
          break;
      }
      await migrateSchema(store.address);
      await expectMoved(store);
    }
  });

  test('are moved once by programs that start at once', async () => {
    const store = await earlierStore();
    await Promise.all(Array.from({ length: 4 }, () => migrateSchema(store.address)));
    await migrateSchema(store.address);
    await expectMoved(store);
  });

  test('that a program of that version is storing move, too, and it stores no further ones', async () => {
    const store = await earlierStore();
    const late = (
      id: string,
    ) => `INSERT INTO dead_letters ${COLUMNS} SELECT ${earlierId(300)} + 4 * number, concat('${id}', toString(number)), 7,
      ${FIRST_DAY * DAY_MS} + sleepEachRow(0.2), 'http', NULL, NULL, NULL, false, 'r', 1, '${id}'
      FROM numbers(5) SETTINGS max_block_size = 1`;
    const underWay = store.run(late('late'));
    await expect
      .poll(async () => {
        const text =
          "SELECT count() FROM system.processes WHERE query LIKE 'INSERT INTO dead_letters%' AND current_database = currentDatabase()";
        return (await store.client.read({ text, params: [] })).rows;
      })
      .toEqual([['1']]);
    await migrateSchema(store.address);
    await underWay;
    expect((await store.letters()).slice(-5)).toEqual(Array.from({ length: 5 }, () => ['http', 7, null, 'late']));
    const refused = store.run(late('later'));
    await expect(refused).rejects.toThrow(StoreError);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('a letter that was removed after the move stays removed when another program moves it again', async () => {
  const store = await earlierStore();
  const { statements } = await migrateSchema(store.address, { isDryRun: true });
  const again = statements.findIndex((statement) => statement.startsWith('INSERT INTO letters '));
  for (const statement of statements.slice(0, again + 1)) await store.run(statement);
  const shared = new SharedDeadLetters({ client: store.client, quotaBytes: 1024 ** 2, sharesEveryMs: 10_000, logger: silentLogger });
  expect(await shared.remove({ zones: [7], limit: Number.MAX_SAFE_INTEGER })).toBe(FEW_DAYS + 1);
  await store.run(statements[again] as string);
  expect(sorted(await store.letters())).toEqual(sorted(MOVED.slice(FEW_DAYS + 1)));
});
