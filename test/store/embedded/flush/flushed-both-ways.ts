import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { expect } from 'vitest';
import { logRow } from '../../../../sql/segment-statements.ts';
import { flushJournals, type JournalsOrder } from '../../../../store/embedded/flush/flush-journals.ts';
import { type FlushedFields, writeFlushedFields } from '../../../../store/embedded/flush/flushed-fields.ts';
import { EmptyJournalTable } from '../../../../store/embedded/journal/empty-journal-table.ts';
import { JournalFolder } from '../../../../store/embedded/journal/journal-folder.ts';
import type { SegmentKernel } from '../../../../store/embedded/parquet/segment-kernel.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

/** Of more than 32 bits, and of more than 16. */
const FIRST_SEQUENCE = 2n ** 40n + 17n;
const BLOB_FILE = 70_000;

/** Writes the events of each batch as a journal. */
export async function journalsOf(batches: readonly (readonly CanonicalEvent[])[]): Promise<JournalsOrder> {
  const [journalFolder, segmentsFolder] = ['journal', 'segments'].map((name) => join(temporaryFolder(), name)) as [string, string];
  mkdirSync(journalFolder);
  mkdirSync(segmentsFolder);
  const folder = new JournalFolder(journalFolder, new EmptyJournalTable(new DatabaseSync(':memory:')));
  const paths: string[] = [];
  let sequence = FIRST_SEQUENCE;
  for (const [index, events] of batches.entries()) {
    const { path } = await folder.write({ journal: index + 1, sequence }, canonicalBatch(events), 0);
    paths.push(path);
    sequence += BigInt(events.length);
  }
  const events = Number(sequence - FIRST_SEQUENCE);
  return { segmentsFolder, stem: 'kernel', paths, events, blobFile: BLOB_FILE, firstSequence: FIRST_SEQUENCE };
}

/**
 * Has the journals flushed by the kernel and by DuckDB, and expects the same rows in the same order, each with the place of its log, and
 * the same to be said of them.
 */
export async function expectFlushedAlike(order: JournalsOrder, kernel: SegmentKernel): Promise<FlushedFields> {
  const engine = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await engine.connect();
  try {
    const sources = order.paths.map((path) => ({ path }));
    const expected = await writeFlushedFields({ ...order, stem: 'duckdb', sources, endSequence: 2n ** 62n }, connection);
    const flushed = await flushJournals(order, kernel);
    expect(contentOf(flushed)).toEqual(contentOf(expected));
    for (const [index, { file }] of flushed.segments.entries()) {
      const readRows = async (columns: string, name: string): Promise<DuckDBValue[][]> => {
        const from = `read_parquet('${join(order.segmentsFolder, name)}') ORDER BY file_row_number`;
        const reader = await connection.runAndReadAll(`SELECT ${columns} FROM ${from}`);
        return [reader.columnNames(), reader.columnTypes().map(String), ...reader.getRows()];
      };
      const fields = '* EXCLUDE ("logPlace")';
      expect(await readRows(fields, file)).toEqual(await readRows(fields, expected.segments[index]?.file ?? ''));
      const [, , ...places] = await readRows('seq, "logPlace"', file);
      for (const [sequence, blobPointer] of places) {
        const { blobFile, row } = logRow(blobPointer as bigint);
        expect([blobFile, flushed.rows[row]]).toEqual([order.blobFile, Number((sequence as bigint) - order.firstSequence)]);
      }
    }
    expect(flushed.rows.toSorted()).toEqual(Float64Array.from({ length: order.events }, (_, row) => row));
    return flushed;
  } finally {
    connection.closeSync();
    engine.closeSync();
  }
}

function contentOf({ segments }: FlushedFields): unknown[] {
  return segments.map(({ file: _, bytes: __, ...content }) => content);
}
