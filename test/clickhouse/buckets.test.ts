import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { bucketAt } from '../../query/buckets.ts';
import { bucketOf } from '../../sql/bucket-sql.ts';
import { clickhouseDialect, clickhouseStatement } from '../../sql/dialect.ts';
import { sql, textList } from '../../sql/statement.ts';
import { DIVIDED_WINDOWS } from '../fixtures/divided-windows.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { DatabaseReader } from './database-reader.ts';

const reader = await DatabaseReader.open();

afterAll(() => reader.close());

test('ClickHouse puts an event into the bucket that its time is in', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(DIVIDED_WINDOWS, async ({ divided, times }) => {
      const bucket = bucketOf({ fromMs: divided.from, toMs: divided.to }, divided.buckets, clickhouseDialect);
      const all = sql`SELECT arrayJoin(arrayMap(one -> toInt64(one), ${textList(times.map(String))})) AS "timestamp"`;
      const { rows } = await reader.read(clickhouseStatement(sql`SELECT ${bucket} FROM (${all}) AS events`), {});
      expect(rows.flat().map(Number)).toEqual(times.map((time) => bucketAt(divided, time)));
    }),
  );
});
