import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { bucketAt } from '../../query/buckets.ts';
import { duckdbDialect, duckdbStatement } from '../../sql/dialect.ts';
import { bucketOf } from '../../sql/group-fact-statements.ts';
import { int64, joinSql, sql } from '../../sql/statement.ts';
import { StatementRunner } from '../../store/embedded/duckdb/statement-runner.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const runner = new StatementRunner(connection);

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

/** Windows as requests may have them, with times at both ends of buckets and in between. */
const DRAWN = fc
  .record({
    from: fc.integer({ min: 0, max: 4e12 }),
    widthMs: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 72 * 3_600_000 + 120_000 })),
    buckets: fc.integer({ min: 1, max: 500 }),
  })
  .chain(({ from, widthMs, buckets }) => {
    const near = fc
      .tuple(fc.integer({ min: 0, max: buckets }), fc.integer({ min: -1, max: 1 }))
      .map(([bucket, by]) => Math.min(widthMs - 1, Math.max(0, Math.floor((bucket * widthMs) / buckets) + by)));
    const times = fc.array(fc.oneof(near, fc.nat({ max: widthMs - 1 })), { minLength: 1, maxLength: 40 });
    return fc.record({
      divided: fc.constant({ from, to: from + widthMs, buckets }),
      times: times.map((all) => all.map((ms) => from + ms)),
    });
  });

test('DuckDB puts an event into the bucket that its time is in', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(DRAWN, async ({ divided, times }) => {
      const bucket = bucketOf({ fromMs: divided.from, toMs: divided.to }, divided.buckets, duckdbDialect);
      const events = joinSql(times.map((time, index) => sql`(${int64(index)}, ${int64(time)})`));
      const found = await runner.run(
        duckdbStatement(sql`SELECT ${bucket} FROM (VALUES ${events}) AS events("at", "timestamp") ORDER BY "at"`),
      );
      expect(found.flat().map(Number)).toEqual(times.map((time) => bucketAt(divided, time)));
    }),
  );
});
