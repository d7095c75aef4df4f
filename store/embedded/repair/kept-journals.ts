import { StoreError } from '../../store-error.ts';
import type { LostJournal } from '../catalog/damaged-journals.ts';
import type { EmptyJournal } from '../journal/empty-journal-table.ts';
import { endAfter, type Journal } from '../journal/journal.ts';

/** What segments hold, as far as it matters to journals. */
export interface HeldEvents {
  /** The highest number of a journal that is in a file which is kept; 0 where there is none. */
  readonly lastFlush: number;
  /** The highest sequence of an event in a segment; 0 where there is none. */
  readonly lastSequence: bigint;
  /** The number of the sequences between two, both inclusive, that segments hold. */
  readonly count: (first: bigint, last: bigint) => number;
}

/** A journal that a start loads. */
export interface KeptJournal {
  readonly journal: Journal;
  /** Its number from now on. */
  readonly number: number;
}

/** How a catalog goes on with the journals that are there. */
export interface JournalPlan {
  readonly flushedJournal: number;
  readonly nextSequence: bigint;
  readonly kept: readonly KeptJournal[];
  /** Rows that stand for the journals between and behind those that are kept, so that numbers and sequences go on without a gap. */
  readonly empty: readonly EmptyJournal[];
  /** The numbers of whole journals whose events segments or other journals hold. */
  readonly leftOut: readonly number[];
  readonly lost: readonly LostJournal[];
}

/** A journal whose files are not whole. */
export interface DamagedJournal {
  readonly number: number;
  /** As many events as its files tell at most. */
  readonly events: number;
}

/**
 * Plans how a catalog that knows of no journal goes on. A journal is loaded again unless segments hold all of its events; the load finds
 * those that are stored by their ids. Blob files have the numbers of journals, so no journal that is loaded may have one up to the last
 * flush: then all get new ones. Throws `StoreError` (`corrupt`) where two journals have different events under the same sequences.
 */
export function planJournals(whole: readonly Journal[], damaged: readonly DamagedJournal[], held: HeldEvents): JournalPlan {
  const inOrder = [...whole].sort((a, b) => (a.firstSequence === b.firstSequence ? a.number - b.number : less(a, b) ? -1 : 1));
  const [unique, copies] = withoutCopies(inOrder);
  const isStored = ({ number, firstSequence, eventCount }: Journal): boolean =>
    eventCount === 0 ? number <= held.lastFlush : held.count(firstSequence, lastSequenceOf(firstSequence, eventCount)) === eventCount;
  const stored = unique.filter(isStored);
  const loaded = unique.filter((journal) => !stored.includes(journal));
  const numbers = [...whole, ...damaged].map(({ number }) => number);
  const lastNumber = Math.max(held.lastFlush, ...numbers);
  const kept = numbered(loaded, held.lastFlush, lastNumber);
  return {
    ...placed(kept, { lastNumber, end: endOf(unique, held) }),
    kept,
    leftOut: [...stored, ...copies].map(({ number }) => number),
    lost: lostAmong(damaged, unique, held),
  };
}

function less(a: Journal, b: Journal): boolean {
  return a.firstSequence < b.firstSequence;
}

function lastSequenceOf(first: bigint, events: number): bigint {
  return first + BigInt(events) - 1n;
}

/** A repair that was killed may leave a journal under two numbers. */
function withoutCopies(inOrder: readonly Journal[]): [unique: Journal[], copies: Journal[]] {
  const [unique, copies]: [Journal[], Journal[]] = [[], []];
  for (const journal of inOrder) {
    const before = unique.at(-1);
    if (before === undefined || journal.firstSequence >= endAfter(before).sequence) {
      unique.push(journal);
    } else if (journal.content !== undefined && journal.content.crc32 === before.content?.crc32) {
      copies.push(journal);
    } else {
      const what = `the journals ${before.number} and ${journal.number} have different events with the same sequences`;
      throw new StoreError('corrupt', `${what}; move the files of one of them away: ${JSON.stringify(journal.path)}`);
    }
  }
  return [unique, copies];
}

/** Each missing number takes a row of the catalog until the next flush. */
const MAX_MISSING = 1_000;

/** Gives journals the numbers that they have already, if a start can load them under these, and otherwise new ones. */
function numbered(loaded: readonly Journal[], lastFlush: number, lastNumber: number): KeptJournal[] {
  const canStay = loaded.every((journal, index) => {
    const before = loaded[index - 1];
    if (before === undefined) {
      return journal.number > lastFlush;
    }
    const end = endAfter(before);
    const missing = journal.number - end.journal;
    return missing === 0 ? journal.firstSequence === end.sequence : missing > 0 && missing <= MAX_MISSING;
  });
  if (canStay) {
    return loaded.map((journal) => ({ journal, number: journal.number }));
  }
  let next = lastNumber + 1;
  return loaded.map((journal, index) => {
    const before = loaded[index - 1];
    next += before !== undefined && endAfter(before).sequence < journal.firstSequence ? 1 : 0;
    next += 1;
    return { journal, number: next - 1 };
  });
}

/** The sequence behind all that is known. */
function endOf(journals: readonly Journal[], { lastSequence }: HeldEvents): bigint {
  let end = lastSequence + 1n;
  for (const { sequence } of journals.map(endAfter)) {
    if (sequence > end) {
      end = sequence;
    }
  }
  return end;
}

function placed(
  kept: readonly KeptJournal[],
  { lastNumber, end }: { readonly lastNumber: number; readonly end: bigint },
): Pick<JournalPlan, 'flushedJournal' | 'nextSequence' | 'empty'> {
  const [first] = kept;
  if (first === undefined) {
    return { flushedJournal: lastNumber, nextSequence: end, empty: [] };
  }
  const empty: EmptyJournal[] = [];
  let [number, sequence, ingestedAtMs] = [first.number, first.journal.firstSequence, first.journal.ingestedAtMs];
  const fillTo = (untilNumber: number, untilSequence: bigint): void => {
    for (; number < untilNumber; number += 1) {
      empty.push({ number, firstSequence: sequence, eventCount: Number(untilSequence - sequence), expiredCount: 0, ingestedAtMs });
      sequence = untilSequence;
    }
  };
  for (const { journal, number: own } of kept) {
    fillTo(own, journal.firstSequence);
    ({ ingestedAtMs } = journal);
    number = own + 1;
    sequence = endAfter(journal).sequence;
  }
  fillTo(Math.max(number + (sequence < end ? 1 : 0), lastNumber + 1), end);
  return { flushedJournal: first.number - 1, nextSequence: first.journal.firstSequence, empty };
}

/**
 * The damaged journals whose events are lost. Those up to the last flush are in segments, and one behind all whole journals may never have
 * been acknowledged.
 */
function lostAmong(damaged: readonly DamagedJournal[], whole: readonly Journal[], { lastFlush }: HeldEvents): LostJournal[] {
  const last = Math.max(0, ...whole.map(({ number }) => number));
  return damaged
    .filter(({ number, events }) => number > lastFlush && number < last && events > 0)
    .map(({ number, events }) => {
      const before = whole.findLast((journal) => journal.number < number);
      return { number, eventCount: events, firstSequence: before === undefined ? 1n : endAfter(before).sequence };
    });
}
