import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clickhouseStatement } from '../../sql/dialect.ts';
import { int32, int64, joinSql, type SqlParam, sql, text, textList, uint64 } from '../../sql/statement.ts';
import { boundStatement } from '../../store/clickhouse/server/bound-statement.ts';
import { HOSTILE_STRINGS } from '../corpus/hostile-strings.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { DatabaseReader } from './database-reader.ts';

let reader: DatabaseReader;
beforeAll(async () => {
  reader = await DatabaseReader.open();
});
afterAll(() => reader.close());

/** What the server takes the parameters for. 64-bit integers are texts. */
async function valuesOf(params: readonly SqlParam[]): Promise<readonly unknown[]> {
  const statement = clickhouseStatement(sql`SELECT ${joinSql(params.map((param) => sql`tuple(toTypeName(${param}), ${param})`))}`);
  return (await reader.read(statement)).rows[0] ?? [];
}

const TYPES = { VARCHAR: 'String', 'VARCHAR[]': 'Array(String)', INTEGER: 'Int32', BIGINT: 'Int64', UBIGINT: 'UInt64' };

const expected = (params: readonly SqlParam[]) =>
  params.map(({ type, value }) => [TYPES[type], typeof value === 'bigint' ? String(value) : value]);

const someText = fc.oneof(
  fc.constantFrom(...HOSTILE_STRINGS.map((one) => one.text)),
  fc.string({ unit: 'binary' }).map((one) => one.toWellFormed()),
);
const someParam: fc.Arbitrary<SqlParam> = fc.oneof(
  someText.map(text),
  fc.array(someText, { maxLength: 5 }).map(textList),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(int32),
  fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }).map(int64),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(uint64),
);

test('parameters of all types come to the server as they are, beside a statement or in its text', async () => {
  const property = fc.asyncProperty(fc.array(someParam, { minLength: 1, maxLength: 4 }), fc.boolean(), async (params, isLong) => {
    const all = isLong ? [...params, text('x'.repeat(40_000))] : params;
    expect(Object.keys(boundStatement(clickhouseStatement(sql`SELECT ${joinSql(all)}`)).parameters).length).toBe(isLong ? 0 : all.length);
    expect(await valuesOf(all)).toEqual(expected(all));
  });
  await assertAsyncProperty(property, { numRuns: 60 });
});

test.each([
  { name: 'many parameters', params: Array.from({ length: 3_000 }, (_, index) => text(`text ${index} '\\`)) },
  { name: 'a long list', params: [textList(Array.from({ length: 5_000 }, (_, index) => String(2n ** 64n - BigInt(index) - 1n)))] },
  { name: 'a long text of quotes', params: [text("'\\".repeat(200_000))] },
])('a statement with $name is taken', async ({ params }) => {
  const each = joinSql(params.map((param) => sql`length(${param})`));
  const { rows } = await reader.read(clickhouseStatement(sql`SELECT arraySum([${each}])`));
  const lengths = params.map(({ value }) => (typeof value === 'object' ? value.length : Buffer.byteLength(String(value))));
  expect(rows).toEqual([[String(lengths.reduce((sum, length) => sum + length, 0))]]);
});
