import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import {
  countKnownStatement,
  eventsRelation,
  insertNewStatement,
  insertStatement,
  inspectTableStatement,
  readJournalStatement,
  unreadableLinesStatement,
} from '../sql/storage-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import type { DeadLetter } from './event-store.ts';
import type { HotTable } from './hot-table.ts';
import type { Journal } from './journal.ts';
import type { Snapshot } from './live-set.ts';
import { overlaps } from './segment.ts';

/** One more than any sequence: a hot table's events all count when duplicates are looked for. */
const END_OF_SEQUENCE = (1n << 63n) - 1n;

const ARRIVED = 'arrived';

export interface LoadOutcome {
  /** Events that are searchable now and were not before. */
  readonly loaded: number;
  readonly duplicates: number;
}

export interface LoadTarget {
  readonly hotTable: HotTable;
  /** What is searchable already, the hot table included: an event that is in there is not loaded again. */
  readonly known: Snapshot;
  readonly segmentsFolder: string;
  /** Gets the lines that DuckDB's JSON reader does not take, which the intake should not have let through. */
  readonly keepUnreadable: (letters: readonly DeadLetter[]) => void;
}

/**
 * Loads a journal into a hot table: DuckDB parses the file into a table of its own, one aggregate checks what came of it, and the events go
 * over in one last statement: it all is loaded, or none of it.
 */
export async function loadJournal(
  connection: DuckDBConnection,
  journal: Journal,
  { hotTable, known, segmentsFolder, keepUnreadable }: LoadTarget,
): Promise<LoadOutcome> {
  if (journal.eventCount === 0) {
    return { loaded: 0, duplicates: 0 };
  }
  await runStatement(connection, readJournalStatement(ARRIVED, journal.path));
  const [checked = []] = await runStatement(connection, inspectTableStatement(ARRIVED));
  const [lines, events, distinct, firstMs, lastMs] = checked as [bigint, bigint, bigint, bigint | null, bigint | null];
  if (lines - events > 1n || Number(events) !== journal.eventCount) {
    keepUnreadable(await findUnreadable(connection, journal));
  }
  if (firstMs === null || lastMs === null) {
    return { loaded: 0, duplicates: 0 };
  }
  const segments = known.segments.filter((segment) => overlaps(segment, Number(firstMs), Number(lastMs) + 1));
  const relation = eventsRelation(
    known.hotTables.map(({ name }) => name),
    segments.map(({ file }) => join(segmentsFolder, file)),
    END_OF_SEQUENCE,
  );
  const [[knownAlready] = []] = await runStatement(connection, countKnownStatement(ARRIVED, relation, firstMs, lastMs));
  // The lines that are no events have one hash together, so as many distinct hashes as events and one more means: no duplicates.
  const allNew = knownAlready === 0n && distinct === events + 1n;
  const statement = allNew
    ? insertStatement(hotTable.name, ARRIVED, journal.firstSequence)
    : insertNewStatement(hotTable.name, ARRIVED, journal.firstSequence, relation, firstMs, lastMs);
  const [[inserted] = []] = await runStatement(connection, statement);
  const loaded = Number(inserted);
  return { loaded, duplicates: Number(events) - loaded };
}

async function findUnreadable(connection: DuckDBConnection, journal: Journal): Promise<DeadLetter[]> {
  const places = await runStatement(connection, unreadableLinesStatement(ARRIVED));
  const lines = (await readFile(journal.path)).toString('utf8').split('\n');
  return places
    .map(([place]) => Number(place))
    .filter((place) => place < journal.eventCount)
    .map((place) => ({
      bytes: Buffer.from(lines[place] ?? ''),
      reason: `the event reader of DuckDB takes this line for no event (journal ${journal.number}, line ${place + 1})`,
      source: 'journal',
      topic: null,
      partition: null,
      offset: null,
    }));
}
