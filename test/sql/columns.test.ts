import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOfFiles, SEGMENT_COLUMNS } from '../../sql/columns.ts';

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-columns-'));
const [earlier, later] = ['earlier', 'later'].map((name) => join(folder, `${name}.parquet`)) as [string, string];
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();

/** The columns of segments and one more, as a later version of the fields has them. */
const LATER_COLUMNS = [...SEGMENT_COLUMNS, { name: 'later_field' as 'ua', duckdbType: 'VARCHAR', since: 2 } as const];

async function rows(select: string, paths: readonly string[], columns = LATER_COLUMNS as typeof SEGMENT_COLUMNS): Promise<unknown> {
  const { chunks } = rowsOfFiles(paths, columns);
  const list = `[${paths.map((path) => `'${path}'`).join(', ')}]`;
  return (await connection.runAndReadAll(`SELECT ${select} FROM ${chunks.join(list)} ORDER BY ALL`)).getRowsJson();
}

beforeAll(async () => {
  const columns = SEGMENT_COLUMNS.map(({ name, duckdbType }) => `${name === 'seq' ? 'range' : 'NULL'}::${duckdbType} AS "${name}"`).join(
    ', ',
  );
  await connection.run(`COPY (SELECT ${columns} FROM range(3)) TO '${earlier}'`);
  await connection.run(`COPY (SELECT ${columns}, 'GET' AS later_field FROM range(5, 7)) TO '${later}'`);
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
  rmSync(folder, { recursive: true });
});

test.each([
  ['an earlier one', () => [earlier], [null, null, null]],
  ['a later one', () => [later], ['GET', 'GET']],
  ['both, the earlier one first', () => [earlier, later], [null, null, null, 'GET', 'GET']],
  ['both, the later one first', () => [later, earlier], [null, null, null, 'GET', 'GET']],
])('a column that a later version added is read from files: %s', async (_, paths, methods) => {
  const sequences = methods.map((method, index) => String(method === null ? index : 5 + index - (methods.length - 2)));
  expect(await rows('seq, later_field', paths())).toEqual(sequences.map((sequence, index) => [sequence, methods[index]]));
  const conditions = "count(*) FILTER (later_field = 'GET'), count(*) FILTER (later_field IS NULL)";
  const found = methods.filter((method) => method !== null).length;
  expect(await rows(conditions, paths())).toEqual([[String(found), String(methods.length - found)]]);
});

test('where no column was added, DuckDB takes the columns from the files', () => {
  const first = SEGMENT_COLUMNS.filter(({ since = 1 }) => since === 1);
  expect(rowsOfFiles([earlier], first).chunks.join('?')).toBe('read_parquet(?)');
});
