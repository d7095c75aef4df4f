import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EVENT_FIELDS_VERSION } from '../../query/event-fields.ts';
import { EVENTS_TABLE } from '../../sql/clickhouse/cluster.ts';
import { createEventsTable } from '../../sql/clickhouse/schema.ts';
import { CLICKHOUSE_MIGRATIONS, migrateSchema, SCHEMA_VERSION } from '../../store/clickhouse/schema.ts';
import { sharedStore } from './shared-store.ts';

const VERSIONS = Array.from({ length: EVENT_FIELDS_VERSION }, (_, index) => index + 1);

/** The columns of the table of events as a version of the fields was released with them. */
const columnsOf = (version: number): string => readFileSync(join(import.meta.dirname, `event-columns-${version}.sql`), 'utf8').trim();

/** The version of the schema that a store had when it had a version of the fields. */
function schemaOf(version: number): number {
  const next = CLICKHOUSE_MIGRATIONS.find(({ eventFields }) => eventFields === version + 1);
  return next === undefined ? SCHEMA_VERSION : next.version - 1;
}

const COLUMNS = `SELECT name, type, default_kind, default_expression FROM system.columns
  WHERE database = currentDatabase() AND table = '${EVENTS_TABLE}' ORDER BY name`;

test('each version of the event fields has a step of the schema, in their order', () => {
  expect(CLICKHOUSE_MIGRATIONS.flatMap(({ eventFields }) => eventFields ?? [])).toEqual(VERSIONS);
});

test.each(VERSIONS)('a table of version %i of the event fields gets the columns of a new one', async (version) => {
  const { address, run, rows } = await sharedStore();
  await migrateSchema(address);
  const present = await rows(COLUMNS);
  const statement = createEventsTable({ table: EVENTS_TABLE });
  const [, columns = ''] = /\(\n {2}([\s\S]*),\n {2}PROJECTION/.exec(statement) ?? [];
  await run(`DROP TABLE ${EVENTS_TABLE} SYNC`);
  await run(statement.replace(columns, () => columnsOf(version)));
  await run('TRUNCATE TABLE schema_versions');
  await run(`INSERT INTO schema_versions SELECT ${schemaOf(version)}, 0`);
  await migrateSchema(address);
  expect(await rows(COLUMNS)).toEqual(present);
});
