import type { StoreLogger } from '../../event-store.ts';
import { StoreError } from '../../store-error.ts';
import type { EmptyJournal } from '../journal/empty-journal-table.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalFolder } from '../journal/journal-folder.ts';
import { nameOfLost } from '../segment/file-names.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import type { Catalog, CatalogProgress } from './catalog.ts';
import { CATALOG_REPAIR } from './catalog-database.ts';

/** The journals of a data folder, as its catalog knows them. */
export interface FoundJournals {
  /** The numbers of those that are in published segments. */
  readonly flushed: readonly number[];
  /** The journals that are in no published segment, and that are as they were written. */
  readonly whole: readonly Journal[];
  /** The journals before the last whole one that are not as they were written. */
  readonly damaged: readonly EmptyJournal[];
  /** The number of the last one where it is not whole. */
  readonly torn: number | undefined;
}

/** Reads all journals. Throws `StoreError` (`corrupt`) where one is missing, or where the journals do not go on where the catalog ends. */
export async function readJournals(
  folder: JournalFolder,
  { flushedJournal, nextSequence }: Pick<CatalogProgress, 'flushedJournal' | 'nextSequence'>,
): Promise<FoundJournals> {
  const numbers = await folder.list();
  const flushed = numbers.filter((number) => number <= flushedJournal);
  const lastFlushed = flushed.length === 0 ? undefined : await folder.read(flushed.at(-1) ?? 0);
  refuseGap(folder, lastFlushed, ({ firstSequence, eventCount }) => firstSequence + BigInt(eventCount) <= nextSequence);
  const whole: Journal[] = [];
  const damaged: EmptyJournal[] = [];
  /** The damaged journals since the last whole one. */
  let run: EmptyJournal[] = [];
  let sequence = nextSequence;
  for (const [index, number] of numbers.slice(flushed.length).entries()) {
    const expected = flushedJournal + index + 1;
    if (number !== expected) {
      const what = `${JSON.stringify(folder.path)}: journal ${expected} is missing, journal ${number} is there`;
      throw new StoreError('corrupt', `${what}; ${CATALOG_REPAIR}`);
    }
    const journal = await folder.read(number);
    if (journal !== undefined) {
      refuseGap(folder, journal, ({ firstSequence }) => (run.length === 0 ? firstSequence === sequence : firstSequence >= sequence));
      damaged.push(...countedTogether(run, journal.firstSequence));
      run = [];
      whole.push(journal);
      sequence = journal.firstSequence + BigInt(journal.eventCount);
    } else if (number === numbers.at(-1)) {
      return { flushed, whole, damaged: [...damaged, ...countedByLogs(run)], torn: number };
    } else {
      const eventCount = await folder.countDamaged(number);
      run.push({ number, firstSequence: sequence, eventCount, expiredCount: 0, ingestedAtMs: whole.at(-1)?.ingestedAtMs ?? 0 });
    }
  }
  return { flushed, whole, damaged, torn: undefined };
}

/** Damaged journals before a whole one: how many events they had together is known by its sequence, and not how many each of them had. */
function countedTogether([first, ...others]: readonly EmptyJournal[], end: bigint): EmptyJournal[] {
  if (first === undefined) {
    return [];
  }
  const all = { ...first, eventCount: Number(end - first.firstSequence) };
  return [all, ...others.map((other) => ({ ...other, firstSequence: end, eventCount: 0 }))];
}

/** Damaged journals with no whole one behind them, as far as their logs tell how many events each had. */
function countedByLogs(run: readonly EmptyJournal[]): EmptyJournal[] {
  let next = run[0]?.firstSequence ?? 0n;
  return run.map((journal) => {
    const firstSequence = next;
    next += BigInt(journal.eventCount);
    return { ...journal, firstSequence };
  });
}

export interface LossOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly logger: StoreLogger;
}

/** Events of a journal that is not whole. */
export type LostJournal = Pick<EmptyJournal, 'number' | 'firstSequence' | 'eventCount'>;

const FAULT = 'the files of a journal are not as they were written';

/** The segment that stands for lost events. Nobody knows of which zones and times they were. */
export function lostJournal({ number, firstSequence, eventCount }: LostJournal, nowMs: number): UnpublishedSegment {
  const extent = { minTimestamp: 0, maxTimestamp: nowMs, minSequence: firstSequence, maxSequence: firstSequence + BigInt(eventCount) - 1n };
  return { file: nameOfLost(number), rows: eventCount, bytes: 0, ...extent, zoneRows: new Map(), damage: FAULT };
}

/**
 * Notes in the catalog that the events of damaged journals are lost, and sets their files aside. Returns the journals as journals without
 * events.
 */
export async function loseJournals(
  damaged: readonly EmptyJournal[],
  catalog: Catalog,
  folder: JournalFolder,
  { now, logger }: LossOptions,
): Promise<Journal[]> {
  const lost = damaged.filter(({ eventCount }) => eventCount > 0);
  if (damaged.length > 0) {
    catalog.apply({ add: lost.map((journal) => lostJournal(journal, now())), remove: [], emptyJournals: damaged });
  }
  const journals: Journal[] = [];
  for (const { number, eventCount } of damaged) {
    const files = await folder.setAside(number, now());
    logger.error(
      { journal: number, events: eventCount, folder: folder.path, files },
      `${FAULT}: its events are lost, and its files set aside`,
    );
    const journal = await folder.read(number);
    journals.push(...(journal === undefined ? [] : [journal]));
  }
  return journals;
}

/** Sets the files of the last journal aside where they are not whole. */
export async function setTornAside(torn: number | undefined, folder: JournalFolder, { now, logger }: LossOptions): Promise<void> {
  if (torn !== undefined) {
    const files = await folder.setAside(torn, now());
    const message = 'the last journal is not whole, and is set aside: its batch was not acknowledged, or its files were damaged later';
    logger.warn({ journal: torn, folder: folder.path, files }, message);
  }
}

function refuseGap(folder: JournalFolder, journal: Journal | undefined, fits: (journal: Journal) => boolean): void {
  if (journal !== undefined && !fits(journal)) {
    const what = `${JSON.stringify(folder.path)}: journal ${journal.number} does not fit to what the catalog says is flushed`;
    throw new StoreError('corrupt', `${what}; ${CATALOG_REPAIR}`);
  }
}
