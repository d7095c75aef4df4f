import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultOfBlobFile, readBlobFileRows } from '../../../../store/embedded/blob/blob-file-reader.ts';
import { createBlobFileWriter, writeBlobFile } from '../../../../store/embedded/blob/blob-file-writer.ts';
import { LogMemory, MemtableLogs } from '../../../../store/embedded/blob/memtable-logs.ts';
import type { BlobFile } from '../../../../store/embedded/segment/blob-file.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { assertAsyncProperty } from '../../../random/assert-property.ts';

const FILE = 'blob-file.parquet';

function growingLogs(logs: readonly string[]): MemtableLogs {
  const memtableLogs = new MemtableLogs(new LogMemory());
  memtableLogs.append(1n, [Buffer.from(logs.map((log) => `${log}\n`).join(''))]);
  return memtableLogs;
}

/** Writes the logs in this order, and returns the catalog's entry of the blob file. */
function written(folder: string, logs: readonly string[], rows: readonly number[]): BlobFile {
  const path = join(folder, FILE);
  writeBlobFile({ path, logs: growingLogs(logs).slices, rows: Float64Array.from(rows) });
  const bytes = statSync(path).size;
  return { number: 1, file: FILE, rows: rows.length, bytes, minSequence: 1n, maxSequence: 1n, textBytes: 0, ingestTimes: new Uint8Array() };
}

async function readRows(blobFile: BlobFile, folder: string, rows: readonly number[]): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  await readBlobFileRows(blobFile, folder, Uint32Array.from(rows), (nth, log) => found.set(rows[nth] as number, log.toString()));
  return found;
}

async function readByDuckdb(folder: string): Promise<unknown[]> {
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  const [logs = []] = (await connection.runAndReadAll(`SELECT log FROM read_parquet('${join(folder, FILE)}')`)).getColumns();
  connection.closeSync();
  engine.closeSync();
  return logs;
}

/** Numbers of logs around the sizes of a page and of a row group, and far above. */
const SIZES = [
  ['one log', 1, 10],
  ['an empty log', 1, 0],
  ['one page', 20, 700],
  ['many pages', 900, 700],
  ['logs longer than a page', 7, 200_000],
  ['a log longer than a piece of memory', 2, 1_500_000],
  ['rows that just fill a row group', 4_096, 30],
  ['one row more', 4_097, 30],
  ['several row groups', 9_000, 120],
] as const;

test.each(SIZES)(
  'a blob file has the logs in the order that was asked for, for any engine and row by row: %s',
  async (_, count, length) => {
    const folder = temporaryFolder();
    const logs = Array.from({ length: count }, (_none, n) => `${n}é`.repeat(Math.ceil(length / 4)).slice(0, length));
    const rows = Array.from({ length: count }, (_none, n) => count - 1 - n);
    const blobFile = written(folder, logs, rows);
    const expected = rows.map((index) => logs[index]);
    expect(await readByDuckdb(folder)).toEqual(expected);
    const every = await readRows(
      blobFile,
      folder,
      rows.map((_none, row) => row),
    );
    expect(rows.map((_none, row) => every.get(row))).toEqual(expected);
    const last = await readRows(blobFile, folder, [count - 1]);
    expect([...last]).toEqual([[count - 1, expected[count - 1]]]);
  },
);

test('any rows of a blob file are found, and no others', async () => {
  const folder = temporaryFolder();
  const logs = Array.from({ length: 10_000 }, (_, n) => `log ${n} ${'x'.repeat((n * 7919) % 900)}`);
  const blobFile = written(
    folder,
    logs,
    logs.map((_, index) => index),
  );
  await assertAsyncProperty(
    fc.asyncProperty(fc.uniqueArray(fc.nat({ max: logs.length - 1 }), { minLength: 1, maxLength: 40 }), async (wanted) => {
      const ascending = wanted.toSorted((a, b) => a - b);
      const found = await readRows(blobFile, folder, ascending);
      expect([...found].sort(([a], [b]) => a - b)).toEqual(ascending.map((row) => [row, logs[row]]));
    }),
    { numRuns: 60 },
  );
});

test('the logs of a page that is not as it was written are empty objects, and the others are read', async () => {
  const folder = temporaryFolder();
  const logs = Array.from({ length: 1_000 }, (_, n) => `${n}-`.repeat(100));
  const blobFile = written(
    folder,
    logs,
    logs.map((_, index) => index),
  );
  const bytes = readFileSync(join(folder, FILE));
  bytes[100] = (bytes[100] as number) ^ 1;
  writeFileSync(join(folder, FILE), bytes);
  expect(faultOfBlobFile(blobFile)).toBeUndefined();
  expect(await readRows(blobFile, folder, [0, 999])).toEqual(
    new Map([
      [0, '{}'],
      [999, logs[999]],
    ]),
  );
  expect(faultOfBlobFile(blobFile)).toBe('the page at byte 4 is not as it was written');
});

test('a blob file that is written in a thread is the same as one that is written here', async () => {
  const folder = temporaryFolder();
  const logs = Array.from({ length: 3_000 }, (_, n) => `{"n":${n},"text":"${'abc'.repeat(n % 90)}"}`);
  const rows = Float64Array.from(logs, (_, n) => (n * 7) % 3_000);
  const writer = createBlobFileWriter();
  await writer.run({ path: join(folder, 'beside'), logs: growingLogs(logs).slices, rows });
  await writer.close();
  writeBlobFile({ path: join(folder, 'here'), logs: growingLogs(logs).slices, rows });
  expect(readFileSync(join(folder, 'beside')).equals(readFileSync(join(folder, 'here')))).toBe(true);
});
