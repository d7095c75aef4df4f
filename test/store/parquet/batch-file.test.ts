import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  BATCH_COLUMNS,
  type BatchColumn,
  columnIndex,
  type FieldColumns,
  HAS_UPPERCASE_OR_NON_ASCII_BIT,
} from '../../../query/batch-columns.ts';
import { startEngine } from '../../../store/embedded/duckdb/duckdb-engine.ts';
import { StatementRunner } from '../../../store/embedded/duckdb/statement-runner.ts';
import { batchFileOf } from '../../../store/parquet/batch-file.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';

/** Whether the event at this index has a value in the column. */
type Has = (index: number, column: BatchColumn) => boolean;

const isRequired = (column: BatchColumn) => column === 'shieldZoneId' || column === 'timestamp';

/** The value of the event at an index in a column, or null. */
function valueAt(index: number, column: BatchColumn): number | bigint | string {
  switch (BATCH_COLUMNS[columnIndex(column)]?.type) {
    case 'int32':
      return index % 2 === 0 ? index : -index;
    case 'int64':
      return BigInt(index) - 5n;
    case 'uint64':
      return 2n ** 64n - 1n - BigInt(index);
    case 'bytes':
      return Buffer.alloc(16, index).toString('hex');
    default:
      return index % 5 === 0 ? '' : `${column} ä ${index}`;
  }
}

/** Encodes a value as PLAIN. */
function plain(value: number | bigint | string, type: (typeof BATCH_COLUMNS)[number]['type']): Buffer {
  const bytes = Buffer.alloc(type === 'int64' || type === 'uint64' ? 8 : 4);
  switch (type) {
    case 'int32':
      bytes.writeInt32LE(Number(value));
      return bytes;
    case 'int64':
      bytes.writeBigInt64LE(BigInt(value));
      return bytes;
    case 'uint64':
      bytes.writeBigUInt64LE(BigInt(value));
      return bytes;
    default: {
      const content = Buffer.from(String(value), type === 'bytes' ? 'hex' : 'utf8');
      bytes.writeUInt32LE(content.length);
      return Buffer.concat([bytes, content]);
    }
  }
}

function maskAt(index: number, has: Has): Buffer {
  const mixedCase = index % 3 === 0 ? 1 << HAS_UPPERCASE_OR_NON_ASCII_BIT : 0;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(BATCH_COLUMNS.reduce((mask, { name }, bit) => (has(index, name) ? mask | (1 << bit) : mask), mixedCase));
  return bytes;
}

function fieldsOf(count: number, has: Has): FieldColumns {
  const indices = Array.from({ length: count }, (_, index) => index);
  return {
    values: BATCH_COLUMNS.map(({ name, type }) =>
      indices.filter((index) => has(index, name)).map((index) => plain(valueAt(index, name), type)),
    ),
    masks: indices.map((index) => maskAt(index, has)),
  };
}

test.each<[string, Has]>([
  ['of every event', () => true],
  ['of no event', (_, column) => isRequired(column)],
  ['of every other event', (index, column) => isRequired(column) || index % 2 === 1],
  ['of the first and the last event', (index, column) => isRequired(column) || index === 0 || index === 2_049],
  ['of one event and another', (index, column) => isRequired(column) || (index * 31 + columnIndex(column) * 17) % 7 < 3],
])('DuckDB reads the values %s as they were written, event by event', async (_, has) => {
  const folder = temporaryFolder();
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: folder, threads: 1 });
  const connection = await engine.connect();
  const runner = new StatementRunner(connection);
  onTestFinished(() => connection.closeSync());
  const path = join(folder, 'journal.parquet');
  const columns = BATCH_COLUMNS.map(({ name, type }) => (type === 'bytes' ? `lower(hex("${name}"))` : `"${name}"`)).join(', ');
  for (const count of [1, 7, 8, 9, 2_050]) {
    writeFileSync(path, Buffer.concat(batchFileOf(fieldsOf(count, has), count, 2n ** 40n)));
    const rows = await runner.run({ text: `SELECT seq, unfolded, ${columns} FROM read_parquet('${path}')`, params: [] });
    const expected = Array.from({ length: count }, (__, index) => [
      2n ** 40n + BigInt(index),
      index % 3 === 0,
      ...BATCH_COLUMNS.map(({ name }) => (has(index, name) ? valueAt(index, name) : null)),
    ]);
    expect(rows).toEqual(expected);
  }
});

test('without events there is nothing to write', () => {
  expect(
    batchFileOf(
      fieldsOf(0, () => true),
      0,
      1n,
    ),
  ).toEqual([]);
});
