import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetMetadata } from 'hyparquet';
import { expect, test } from 'vitest';
import { SEGMENT_COLUMNS } from '../../../../sql/columns.ts';
import { ROW_GROUP_ROWS, SEGMENT_ORDER } from '../../../../sql/segment-layout.ts';
import { flushJournals } from '../../../../store/embedded/flush/flush-journals.ts';
import { SegmentKernel } from '../../../../store/embedded/parquet/segment-kernel.ts';
import type { CanonicalEvent } from '../../../fixtures/canonical-batch.ts';
import { HOUR, NOW } from '../stored-events.ts';
import { expectFlushedAlike, journalsOf } from './flushed-both-ways.ts';

/** An event whose fields are shared with many events, unique or missing, depending on its index. */
function eventAt(index: number, shieldZoneId: number, timestamp: number): CanonicalEvent {
  return {
    logId: index % 3 === 0 ? `id ${index}` : `${index}`.padStart(32, '0'),
    shieldZoneId,
    timestamp,
    feature: ['waf', 'bots'][index % 2],
    ip: index % 5 === 0 ? `2001:db8::${index.toString(16)}` : `198.51.${index % 7}.${index % 200}`,
    ua: `agent ${'x'.repeat(index % 90)}${index % 1_000}`,
    url: index % 4 === 0 ? `/every/path/${index}` : `https://example.org/p?q=${index}`,
    country: index % 11 === 0 ? null : 'DE',
    action: index < 9_000 ? null : `${index % 2}`,
  };
}

const kernel = new SegmentKernel();

/** Counts the rows of a segment that belong before the row ahead of them by `SEGMENT_ORDER`. */
async function rowsOutOfOrder(path: string): Promise<unknown> {
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  const key = `row(${SEGMENT_ORDER.map((name) => `"${name}"`).join(', ')})`;
  const keys = `SELECT ${key} AS key, lag(${key}) OVER (ORDER BY file_row_number) AS before FROM read_parquet('${path}')`;
  const reader = await connection.runAndReadAll(`SELECT count(*) FROM (${keys}) WHERE key < before`);
  connection.closeSync();
  engine.closeSync();
  return reader.getRows()[0]?.[0];
}

test('a kernel flushes journals into the rows that DuckDB makes of them, whatever it flushed before', async () => {
  const events = Array.from({ length: 30_000 }, (_, index) => eventAt(index, (index * 7_919) % 13, NOW - ((index * 104_729) % HOUR)));
  await expectFlushedAlike(await journalsOf([events.slice(0, 9_000), events.slice(9_000, 9_001), events.slice(9_001)]), kernel);
  await expectFlushedAlike(await journalsOf([[eventAt(1, 5, NOW)]]), kernel);
  await expectFlushedAlike(await journalsOf([events.slice(0, 100)]), kernel);
});

test('a large zone has row groups of its own; the others share theirs', async () => {
  const large = Array.from({ length: 40_000 }, (_, index) => eventAt(index, 500, NOW - index));
  const others = Array.from({ length: 9_000 }, (_, index) => eventAt(index, index % 1_000 === 0 ? 500 : index % 1_000, NOW - index));
  const order = await journalsOf([large, others]);
  const { segments } = await expectFlushedAlike(order, kernel);
  expect(segments).toHaveLength(1);
  const { row_groups: groups } = parquetMetadata(readFileSync(`${order.segmentsFolder}/${segments[0]?.file}`));
  const zonesOf = ({ columns }: (typeof groups)[number]) => {
    const { min_value, max_value } = columns[1]?.meta_data?.statistics ?? {};
    return [min_value, max_value];
  };
  expect(groups.map((group) => [Number(group.num_rows), ...zonesOf(group)])).toEqual([
    [4_491, 1, 499],
    [32_768, 500, 500],
    [7_250, 500, 500],
    [4_491, 501, 999],
  ]);
});

test.each([
  ['large', 2],
  ['small', 20_000],
] as const)('the kernel and DuckDB both write the layout of segments with %s zones', async (size, zones) => {
  const events = Array.from({ length: 90_000 }, (_, index) => eventAt(index, (index * 7_919) % zones, NOW - index));
  const order = await journalsOf([events]);
  await expectFlushedAlike(order, kernel);
  const files = readdirSync(order.segmentsFolder);
  expect(files).toHaveLength(2);
  for (const file of files) {
    const { row_groups: groups, schema } = parquetMetadata(readFileSync(`${order.segmentsFolder}/${file}`));
    expect(schema.slice(1).map(({ name }) => name)).toEqual(SEGMENT_COLUMNS.map(({ name }) => name));
    expect(Math.max(...groups.map(({ num_rows }) => Number(num_rows)))).toBe(ROW_GROUP_ROWS[size]);
    expect(await rowsOutOfOrder(`${order.segmentsFolder}/${file}`)).toBe(0n);
  }
});

test('every hour that holds many events gets a segment, whose logs follow upon those of the one before', async () => {
  const events = Array.from({ length: 50_000 }, (_, index) => eventAt(index, index % 3, NOW - (index % 2) * HOUR));
  const { segments } = await expectFlushedAlike(await journalsOf([events]), kernel);
  expect(segments.map(({ rows }) => rows)).toEqual([25_000, 25_000]);
});

test('zones and times of every size are in order', async () => {
  const zones = [0, -1, 2 ** 31 - 1, -(2 ** 31), 1];
  const times = [0, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 1, 2 ** 33 + 5, 2 ** 31];
  const events = zones.flatMap((zone) => times.map((time, index) => eventAt(index, zone, time)));
  await expectFlushedAlike(await journalsOf([events, events.toReversed()]), kernel);
});

test('a journal that is not as journals are is named, and nothing is written', async () => {
  const order = await journalsOf([[eventAt(0, 1, NOW)], [eventAt(1, 1, NOW), eventAt(2, 1, NOW)]]);
  const [, path = ''] = order.sources.flatMap((source) => ('path' in source ? [source.path] : []));
  const whole = readFileSync(path);
  const action = whole.indexOf(Buffer.from('agent'));
  const overlong = Buffer.from(whole);
  overlong.writeUInt32LE(2 ** 32 - 1, action - 4);
  const shorter = Buffer.from(whole);
  shorter.writeUInt32LE(1, action - 4);
  for (const content of [Buffer.alloc(0), whole.subarray(0, whole.length - 1), whole.subarray(100), overlong, shorter]) {
    writeFileSync(path, content);
    await expect(flushJournals(kernel, order)).rejects.toThrow(path);
  }
  writeFileSync(path, whole);
  await expect(flushJournals(kernel, { ...order, events: 4 })).rejects.toThrow(/hold 3 events instead of 4/);
  expect(readdirSync(order.segmentsFolder)).toEqual([]);
  await expectFlushedAlike(order, kernel);
});
