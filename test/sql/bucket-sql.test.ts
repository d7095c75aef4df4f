import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { bucketAt } from '../../query/buckets.ts';
import { bucketOf } from '../../sql/bucket-sql.ts';
import { duckdbDialect, duckdbStatement } from '../../sql/dialect.ts';
import { int64, joinSql, sql } from '../../sql/statement.ts';
import { StatementRunner } from '../../store/embedded/duckdb/statement-runner.ts';
import { DIVIDED_WINDOWS } from '../fixtures/divided-windows.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const runner = new StatementRunner(connection);

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

test('DuckDB puts an event into the bucket that its time is in', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(DIVIDED_WINDOWS, async ({ divided, times }) => {
      const bucket = bucketOf({ fromMs: divided.from, toMs: divided.to }, divided.buckets, duckdbDialect);
      const events = joinSql(times.map((time, index) => sql`(${int64(index)}, ${int64(time)})`));
      const found = await runner.run(
        duckdbStatement(sql`SELECT ${bucket} FROM (VALUES ${events}) AS events("at", "timestamp") ORDER BY "at"`),
      );
      expect(found.flat().map(Number)).toEqual(times.map((time) => bucketAt(divided, time)));
    }),
  );
});
