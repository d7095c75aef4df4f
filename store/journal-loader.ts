import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBListValue } from '@duckdb/node-api';
import { eventsRelation } from '../sql/events-relation.ts';
import {
  countKnownStatement,
  dropTableStatement,
  insertNewStatement,
  insertStatement,
  inspectTableStatement,
  readJournalStatement,
  unreadableLinesStatement,
} from '../sql/journal-statements.ts';
import { runStatement } from './duckdb-engine.ts';
import type { DeadLetter } from './event-store.ts';
import type { HotLogs } from './hot-logs.ts';
import type { HotTable } from './hot-table.ts';
import type { Journal } from './journal.ts';
import type { Snapshot } from './live-set.ts';
import { overlaps } from './segment.ts';

/** One more than any sequence: a hot table's events all count when duplicates are looked for. */
const END_OF_SEQUENCE = (1n << 63n) - 1n;

/** Fewer events are copied into a table with others: searching a great many tables costs more than copying. */
const TABLE_OF_ITS_OWN = 4_000;

export interface LoadOutcome {
  /** Events that are searchable once the load counts, and were not before. */
  readonly loaded: number;
  readonly duplicates: number;
  /** Those of its events, duplicates included. */
  readonly zones: readonly number[];
  /** The journal as a table of its own; absent where its events were copied into the collecting table. */
  readonly table?: HotTable;
}

export interface LoadTarget {
  /** Where the events of small journals go, and those left of one that holds duplicates. */
  readonly collecting: HotTable;
  /** What is searchable already, the collecting table included: an event that is in there is not loaded again. */
  readonly known: Snapshot;
  readonly segmentsFolder: string;
  /** Gets the lines that DuckDB's JSON reader does not take, which the intake should not have let through. */
  readonly keepUnreadable: (letters: readonly DeadLetter[]) => void;
}

/**
 * Loads a journal: DuckDB parses the file into a table, and one aggregate checks what came of it. A large table without duplicates is
 * searched as it is; the events of others go over into the collecting table in one last statement. It all is loaded, or none of it.
 */
export async function loadJournal(connection: DuckDBConnection, journal: Journal, target: LoadTarget): Promise<LoadOutcome> {
  if (journal.eventCount === 0) {
    return { loaded: 0, duplicates: 0, zones: [] };
  }
  const name = `journal_${journal.number}`;
  await runStatement(connection, readJournalStatement(name, journal.path));
  let keepTable = false;
  try {
    const outcome = await adoptOrCopy(connection, journal, name, target);
    keepTable = outcome.table !== undefined;
    return outcome;
  } finally {
    if (!keepTable) {
      await runStatement(connection, dropTableStatement(name));
    }
  }
}

async function adoptOrCopy(connection: DuckDBConnection, journal: Journal, name: string, target: LoadTarget): Promise<LoadOutcome> {
  const { collecting, known, segmentsFolder, keepUnreadable } = target;
  const { firstSequence, sizeBytes, ingestedAtMs } = journal;
  const [checked = []] = await runStatement(connection, inspectTableStatement(name));
  const [lines, events, distinct, firstMs, lastMs, zoneList] = checked as [
    bigint,
    bigint,
    bigint,
    bigint | null,
    bigint | null,
    DuckDBListValue | null,
  ];
  const zones = (zoneList?.items ?? []) as number[];
  if (lines - events > 1n || Number(events) !== journal.eventCount) {
    keepUnreadable(await findUnreadable(connection, journal, name, collecting.logs));
  }
  if (firstMs === null || lastMs === null) {
    return { loaded: 0, duplicates: 0, zones: [] };
  }
  const segments = known.segments.filter((segment) => overlaps(segment, Number(firstMs), Number(lastMs) + 1));
  const paths = segments.map(({ file }) => join(segmentsFolder, file));
  const relation = eventsRelation(known.hotTables, paths, END_OF_SEQUENCE);
  const [[knownAlready] = []] = await runStatement(connection, countKnownStatement(name, relation, firstMs, lastMs));
  // The lines that are no events have one hash together, so as many distinct hashes as events and one more means: no duplicates.
  const allNew = knownAlready === 0n && distinct === events + 1n;
  if (allNew && events >= TABLE_OF_ITS_OWN) {
    const lastSequence = firstSequence + BigInt(journal.eventCount) - 1n;
    const table = {
      name,
      firstSequence,
      events: Number(events),
      zones: new Set(zones),
      journalBytes: sizeBytes,
      lastSequence,
      logs: collecting.logs,
      journals: [{ firstSequence, atMs: ingestedAtMs, sizeBytes }],
    };
    return { loaded: Number(events), duplicates: 0, zones, table };
  }
  const statement = allNew
    ? insertStatement(collecting.name, name, firstSequence)
    : insertNewStatement(collecting.name, name, firstSequence, relation, firstMs, lastMs);
  const [[inserted] = []] = await runStatement(connection, statement);
  const loaded = Number(inserted);
  return { loaded, duplicates: Number(events) - loaded, zones };
}

async function findUnreadable(connection: DuckDBConnection, journal: Journal, table: string, logs: HotLogs): Promise<DeadLetter[]> {
  const places = await runStatement(connection, unreadableLinesStatement(table));
  const lines = (await readFile(journal.path)).toString('utf8').split('\n');
  return places
    .map(([place]) => Number(place))
    .filter((place) => place < journal.eventCount)
    .map((place) => ({
      // What the log leaves out may be just what cannot be read: it stays as it is.
      bytes: Buffer.concat([Buffer.from(`${lines[place] ?? ''}\n`), logs.at(journal.firstSequence + BigInt(place))]),
      reason: `the event reader of DuckDB takes this line for no event (journal ${journal.number}, line ${place + 1})`,
      source: 'journal',
      topic: null,
      partition: null,
      offset: null,
    }));
}
