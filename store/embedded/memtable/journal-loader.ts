import type { DuckDBConnection } from '@duckdb/node-api';
import { eventsRelation } from '../../../sql/events-relation.ts';
import { insertNewStatement, insertStatement } from '../../../sql/journal-statements.ts';
import { runForNumbers, runStatement } from '../duckdb/duckdb-engine.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { Journal } from '../journal/journal.ts';
import { END_OF_SEQUENCE } from '../journal/journal-end.ts';
import { overlaps } from '../segment/segment.ts';
import { type GrowingSegment, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';
import type { ArrivedEvents, DuplicateCheck } from './duplicate-check.ts';
import type { GrowingTable } from './memtable.ts';

/** Fewer events are copied into a table with others: searching a great many files costs more than copying. */
const FILE_OF_ITS_OWN = 4_000;

export interface LoadOutcome {
  /** Events that are searchable once the load counts, and were not before. */
  readonly loaded: number;
  /** Their sequences, in any order; absent where all events of the journal are among them. */
  readonly sequences?: Float64Array;
  /** The events of the journal, duplicates included, where there are some. */
  readonly arrived?: ArrivedEvents;
  /** The journal as a growing segment of its own; absent where its events were copied into the growing table. */
  readonly part?: GrowingSegment;
}

export interface LoadTarget {
  /** Where the events of small journals go, and those left of one that holds duplicates. */
  readonly table: GrowingTable;
  /** What is searchable already, the growing table included: an event that is in there is not loaded again. */
  readonly known: Snapshot;
  readonly duplicates: DuplicateCheck;
  readonly aliases: PathAliases;
}

/**
 * Loads a journal. The file of a large one without duplicates is searched as it is; the events of others go over into the growing table in
 * one last statement. It all is loaded, or none of it.
 */
export async function loadJournal(connection: DuckDBConnection, journal: Journal, target: LoadTarget): Promise<LoadOutcome> {
  if (journal.eventCount === 0 || !journal.hasFiles) {
    return { loaded: 0 };
  }
  const { aliases } = target;
  let outcome: LoadOutcome | undefined;
  try {
    outcome = await aliases.withOriginalPaths(loadFrom(aliases.aliasFor(journal.path), connection, journal, target));
    return outcome;
  } finally {
    // Nobody reads it any more.
    if (outcome?.part === undefined) {
      await aliases.release([journal.path]);
    }
  }
}

async function loadFrom(path: string, connection: DuckDBConnection, journal: Journal, target: LoadTarget): Promise<LoadOutcome> {
  const { table, known, duplicates } = target;
  const arrived = await duplicates.arrived(path);
  if (await duplicates.mayFindSome(arrived, known)) {
    const sequences = await insertNew(connection, path, arrived, target);
    return { loaded: sequences.length, sequences, arrived };
  }
  const all = { loaded: journal.eventCount, arrived };
  if (journal.eventCount >= FILE_OF_ITS_OWN) {
    return { ...all, part: partOf(path, journal, arrived, table) };
  }
  await runStatement(connection, insertStatement(table.table, path));
  return all;
}

function partOf(
  path: string,
  journal: Journal,
  { zones, minTimestamp, maxTimestamp }: ArrivedEvents,
  { logs }: GrowingTable,
): GrowingSegment {
  const { number, firstSequence, eventCount, sizeBytes, ingestedAtMs } = journal;
  return {
    source: { path },
    events: eventCount,
    zones: new Set(zones),
    minTimestamp,
    maxTimestamp,
    journalBytes: sizeBytes,
    lastSequence: firstSequence + BigInt(eventCount) - 1n,
    logs,
    journals: [{ number, firstSequence, atMs: ingestedAtMs, sizeBytes }],
  };
}

/** The sequences of those events of the journal that were new. */
async function insertNew(
  connection: DuckDBConnection,
  path: string,
  { minTimestamp, maxTimestamp }: ArrivedEvents,
  { table, known, aliases }: LoadTarget,
): Promise<Float64Array> {
  const segments = known.segments.filter((segment) => overlaps(segment, minTimestamp, maxTimestamp + 1));
  const paths = segments.map(({ file }) => aliases.segmentAlias(file));
  const stored = eventsRelation(sourcesOf(known.growingSegments), paths, END_OF_SEQUENCE);
  const statement = insertNewStatement(table.table, path, stored, minTimestamp, maxTimestamp);
  const [sequences = new Float64Array()] = await runForNumbers(connection, statement);
  return sequences;
}
