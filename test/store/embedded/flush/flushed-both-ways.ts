import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { expect } from 'vitest';
import { logRow } from '../../../../sql/segment-statements.ts';
import { StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { type FieldsTask, type FlushedFields, writeFlushedFields } from '../../../../store/embedded/flush/flush-fields.ts';
import { flushJournals } from '../../../../store/embedded/flush/flush-journals.ts';
import { EmptyJournalTable } from '../../../../store/embedded/journal/empty-journal-table.ts';
import { JournalFolder } from '../../../../store/embedded/journal/journal-folder.ts';
import type { SegmentKernel } from '../../../../store/embedded/parquet/segment-kernel.ts';
import { type CanonicalEvent, canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';

/** Numbers of more than 32 bits and of more than 16 bits. */
const FIRST_SEQUENCE = 2n ** 40n + 17n;
const BLOB_FILE = 70_000;

/** Writes the events of each batch as a journal. */
export async function journalsOf(batches: readonly (readonly CanonicalEvent[])[]): Promise<FieldsTask> {
  const [journalFolder, segmentsFolder] = ['journal', 'segments'].map((name) => join(temporaryFolder(), name)) as [string, string];
  mkdirSync(journalFolder);
  mkdirSync(segmentsFolder);
  const folder = new JournalFolder(journalFolder, new EmptyJournalTable(new DatabaseSync(':memory:')));
  const sources: { readonly path: string }[] = [];
  let sequence = FIRST_SEQUENCE;
  for (const [index, events] of batches.entries()) {
    const { path } = await folder.write({ journal: index + 1, sequence }, canonicalBatch(events), 0);
    sources.push({ path });
    sequence += BigInt(events.length);
  }
  const events = Number(sequence - FIRST_SEQUENCE);
  return { segmentsFolder, stem: 'kernel', sources, events, blobFile: BLOB_FILE, firstSequence: FIRST_SEQUENCE, endSequence: sequence };
}

/**
 * Flushes the journals with the kernel and with DuckDB. Expects the same rows in the same order, the same entries of the catalog, and the
 * blob pointer of each row at its own log.
 */
export async function expectFlushedAlike(task: FieldsTask, kernel: SegmentKernel): Promise<FlushedFields> {
  const engine = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await engine.connect();
  try {
    const expected = await writeFlushedFields({ ...task, stem: 'duckdb' }, new StatementRunner(connection));
    const flushed = await flushJournals(kernel, task);
    expect(contentOf(flushed)).toEqual(contentOf(expected));
    expect(flushed.rows).toEqual(expected.rows);
    for (const [index, { file }] of flushed.segments.entries()) {
      const readRows = async (columns: string, name: string): Promise<DuckDBValue[][]> => {
        const from = `read_parquet('${join(task.segmentsFolder, name)}') ORDER BY file_row_number`;
        const reader = await connection.runAndReadAll(`SELECT ${columns} FROM ${from}`);
        return [reader.columnNames(), reader.columnTypes().map(String), ...reader.getRows()];
      };
      const fields = '* EXCLUDE ("logPlace")';
      expect(await readRows(fields, file)).toEqual(await readRows(fields, expected.segments[index]?.file ?? ''));
      const [, , ...pointers] = await readRows('seq, "logPlace"', file);
      for (const [sequence, blobPointer] of pointers) {
        const { blobFile, row } = logRow(blobPointer as bigint);
        expect([blobFile, flushed.rows[row]]).toEqual([task.blobFile, Number((sequence as bigint) - task.firstSequence)]);
      }
    }
    expect(flushed.rows.toSorted()).toEqual(Float64Array.from({ length: task.events }, (_, row) => row));
    return flushed;
  } finally {
    connection.closeSync();
    engine.closeSync();
  }
}

function contentOf({ segments }: FlushedFields): unknown[] {
  return segments.map(({ file: _, bytes: __, blocks: ___, ...content }) => content);
}
