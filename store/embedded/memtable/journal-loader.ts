import { insertNewStatement } from '../../../sql/duplicate-statements.ts';
import { eventsRelation } from '../../../sql/events-relation.ts';
import { dropTableStatement, insertStatement } from '../../../sql/memtable-statements.ts';
import type { PathAliases } from '../duckdb/path-aliases.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import type { SegmentChecks } from '../integrity/segment-checks.ts';
import { END_OF_SEQUENCE, type Journal } from '../journal/journal.ts';
import { overlaps } from '../segment/segment.ts';
import { type GrowingSegment, sourcesOf } from '../snapshot/growing-segment.ts';
import type { Snapshot } from '../snapshot/version-set.ts';
import type { ArrivedEvents, DuplicatePrecheck } from './duplicate-precheck.ts';
import type { GrowingTable } from './memtable.ts';

/** The events of a smaller journal are copied into the growing table: searching many files costs more than copying. */
const FILE_OF_ITS_OWN = 4_000;

export interface LoadOutcome {
  /** The number of events that were not stored before. */
  readonly loaded: number;
  /** Their sequences, in any order; absent where all events of the journal are new. */
  readonly sequences?: Float64Array;
  /** The events of the journal, duplicates included; absent where it has none. */
  readonly arrived?: ArrivedEvents;
  /** A growing segment of its own: the journal, or a table with its new events; absent where these were copied into the growing table. */
  readonly part?: GrowingSegment;
}

export interface LoadTarget {
  /** Takes the events of small journals, and the new events of a journal with duplicates. */
  readonly table: GrowingTable;
  /** Makes another table, for new events that the growing table has no room for. */
  readonly openTable: () => Promise<GrowingTable>;
  /** The stored events, those of the growing table included. They are not loaded again. */
  readonly stored: Snapshot;
  readonly duplicates: DuplicatePrecheck;
  readonly aliases: PathAliases;
  readonly checks: SegmentChecks;
}

/**
 * Loads a journal, all of it or nothing. A journal without duplicates is searched as a file where it is large, or has long texts for which
 * the growing table has no room. The new events of any other one are copied into the growing table by the last statement, or into a table
 * of their own.
 */
export async function loadJournal(runner: StatementRunner, journal: Journal, target: LoadTarget): Promise<LoadOutcome> {
  if (journal.eventCount === 0 || !journal.hasFiles) {
    return { loaded: 0 };
  }
  const { table, stored, duplicates, aliases } = target;
  const path = aliases.aliasFor(journal.path);
  let isSearchedAsFile = false;
  try {
    const arrived = await duplicates.arrived(path);
    if (await duplicates.mayFindSome(arrived, stored)) {
      return table.hasRoomFor(journal)
        ? await insertNew(runner, path, arrived, target, table)
        : await insertApart(runner, { path, journal }, arrived, target);
    }
    const all = { loaded: journal.eventCount, arrived };
    if (journal.eventCount >= FILE_OF_ITS_OWN || !table.hasRoomFor(journal)) {
      isSearchedAsFile = true;
      return { ...all, part: partOf(path, journal, arrived, table) };
    }
    await runner.run(insertStatement(table.table, path));
    return all;
  } finally {
    if (!isSearchedAsFile) {
      await aliases.release([journal.path]);
    }
  }
}

function partOf(
  path: string,
  journal: Journal,
  { zones, minTimestamp, maxTimestamp }: ArrivedEvents,
  { logs }: GrowingTable,
): GrowingSegment {
  const { number, firstSequence, eventCount, sizeBytes, ingestedAtMs, content } = journal;
  return {
    source: { path },
    ...(content && { content }),
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

/** Copies the new events of a journal into a table of their own. */
async function insertApart(
  runner: StatementRunner,
  { path, journal }: { readonly path: string; readonly journal: Journal },
  arrived: ArrivedEvents,
  target: LoadTarget,
): Promise<LoadOutcome> {
  const part = await target.openTable();
  let outcome: LoadOutcome = { loaded: 0 };
  try {
    outcome = await insertNew(runner, path, arrived, target, part);
  } finally {
    if (outcome.loaded === 0) {
      await runner.run(dropTableStatement(part.table));
    }
  }
  part.add(journal, outcome.loaded, arrived);
  return outcome.loaded === 0 ? outcome : { ...outcome, part };
}

/** Copies the new events of the journal into a table. */
async function insertNew(
  runner: StatementRunner,
  path: string,
  arrived: ArrivedEvents,
  { stored, aliases, checks }: LoadTarget,
  { table }: GrowingTable,
): Promise<LoadOutcome> {
  const { minTimestamp, maxTimestamp } = arrived;
  const segments = stored.segments.filter((segment) => overlaps(segment, minTimestamp, maxTimestamp + 1));
  return await checks.readingInLoad(async (check) => {
    const paths = (await check(segments, 'all')).map((segment) => aliases.segmentAlias(segment));
    const storedEvents = eventsRelation(sourcesOf(stored.growingSegments), paths, END_OF_SEQUENCE);
    const statement = insertNewStatement(table, path, storedEvents, minTimestamp, maxTimestamp);
    const [sequences = new Float64Array()] = await runner.runForNumbers(statement);
    return { loaded: sequences.length, sequences, arrived };
  });
}
