import { expect, test } from 'vitest';
import type { Journal } from '../../../../store/embedded/journal/journal.ts';
import { type JournalPlan, planJournals } from '../../../../store/embedded/repair/kept-journals.ts';

const AT_MS = 1_796_000_400_000;

function journal(number: number, firstSequence: bigint, eventCount: number, crc32 = number): Journal {
  const content = { bytes: 10, crc32 };
  const path = `${number}.parquet`;
  const empty = { expiredCount: 0, sourceOffsets: [], sizeBytes: 20, ingestedAtMs: AT_MS, hasFiles: true, widestColumnBytes: 20 };
  return { number, path, firstSequence, eventCount, content, ...empty };
}

interface Case {
  readonly whole: readonly Journal[];
  readonly damaged?: readonly { readonly number: number; readonly events: number }[];
  /** The sequences that segments hold. */
  readonly held?: readonly bigint[];
  readonly lastFlush?: number;
  readonly plan: Omit<JournalPlan, 'kept' | 'empty' | 'lost' | 'leftOut'> & {
    readonly kept: readonly (readonly [from: number, to: number])[];
    readonly empty?: readonly (readonly [number: number, firstSequence: bigint, events: number])[];
    readonly leftOut?: readonly number[];
    readonly lost?: JournalPlan['lost'];
  };
}

const CASES: Readonly<Record<string, Case>> = {
  'no journals': { whole: [], held: [1n, 2n], lastFlush: 3, plan: { flushedJournal: 3, nextSequence: 3n, kept: [] } },
  'nothing at all': { whole: [], plan: { flushedJournal: 0, nextSequence: 1n, kept: [] } },
  'journals behind the last flush': {
    whole: [journal(4, 7n, 2), journal(5, 9n, 1)],
    held: [1n, 2n],
    lastFlush: 3,
    plan: {
      flushedJournal: 3,
      nextSequence: 7n,
      kept: [
        [4, 4],
        [5, 5],
      ],
    },
  },
  'journals whose empty neighbours were rows of the catalog': {
    whole: [journal(4, 7n, 2), journal(7, 12n, 1)],
    lastFlush: 3,
    plan: {
      flushedJournal: 3,
      nextSequence: 7n,
      kept: [
        [4, 4],
        [7, 7],
      ],
      empty: [
        [5, 9n, 3],
        [6, 12n, 0],
      ],
    },
  },
  'a journal that segments hold': {
    whole: [journal(3, 5n, 2), journal(4, 7n, 2)],
    held: [5n, 6n],
    lastFlush: 3,
    plan: { flushedJournal: 3, nextSequence: 7n, kept: [[4, 4]], leftOut: [3] },
  },
  'a flushed journal with a duplicate, which gets a number behind the last one': {
    whole: [journal(3, 5n, 2), journal(4, 7n, 2)],
    held: [5n],
    lastFlush: 3,
    plan: {
      flushedJournal: 4,
      nextSequence: 5n,
      kept: [
        [3, 5],
        [4, 6],
      ],
    },
  },
  'a flushed journal before others that are gone': {
    whole: [journal(2, 3n, 2)],
    held: [3n, 5n, 6n, 7n],
    lastFlush: 4,
    plan: { flushedJournal: 4, nextSequence: 3n, kept: [[2, 5]], empty: [[6, 5n, 3]] },
  },
  'flushed journals with others between them': {
    whole: [journal(2, 3n, 2), journal(6, 9n, 2)],
    held: [3n],
    lastFlush: 4,
    plan: {
      flushedJournal: 6,
      nextSequence: 3n,
      kept: [
        [2, 7],
        [6, 9],
      ],
      empty: [[8, 5n, 4]],
    },
  },
  'a journal without events that moved an offset': {
    whole: [journal(3, 5n, 0), journal(4, 5n, 0)],
    lastFlush: 3,
    plan: { flushedJournal: 3, nextSequence: 5n, kept: [[4, 4]], leftOut: [3] },
  },
  'a journal that a killed repair left under two numbers': {
    whole: [journal(3, 5n, 2, 77), journal(6, 5n, 2, 77)],
    lastFlush: 2,
    plan: {
      flushedJournal: 2,
      nextSequence: 5n,
      kept: [[3, 3]],
      leftOut: [6],
      empty: [
        [4, 7n, 0],
        [5, 7n, 0],
        [6, 7n, 0],
      ],
    },
  },
  'a damaged journal between whole ones': {
    whole: [journal(3, 5n, 2), journal(5, 10n, 1)],
    damaged: [{ number: 4, events: 3 }],
    lastFlush: 2,
    plan: {
      flushedJournal: 2,
      nextSequence: 5n,
      kept: [
        [3, 3],
        [5, 5],
      ],
      empty: [[4, 7n, 3]],
      lost: [{ number: 4, firstSequence: 7n, eventCount: 3 }],
    },
  },
  'a last journal that is not whole, and one of a flush': {
    whole: [journal(3, 5n, 2)],
    damaged: [
      { number: 2, events: 3 },
      { number: 4, events: 3 },
    ],
    lastFlush: 2,
    plan: { flushedJournal: 2, nextSequence: 5n, kept: [[3, 3]], empty: [[4, 7n, 0]] },
  },
};

test.each(Object.entries(CASES))('%s', (_, { whole, damaged = [], held = [], lastFlush = 0, plan: expected }) => {
  const count = (first: bigint, last: bigint) => held.filter((sequence) => sequence >= first && sequence <= last).length;
  const plan = planJournals(whole, damaged, { lastFlush, lastSequence: held.at(-1) ?? 0n, count });
  const { kept, empty = [], leftOut = [], lost = [], ...progress } = expected;
  expect(plan).toMatchObject(progress);
  expect(plan.kept.map((one) => [one.journal.number, one.number])).toEqual(kept);
  expect(plan.empty.map((one) => [one.number, one.firstSequence, one.eventCount])).toEqual(empty);
  expect(plan.leftOut).toEqual(leftOut);
  expect(plan.lost).toEqual(lost);
});

test('journals with different events under the same sequences are refused', () => {
  const held = { lastFlush: 0, lastSequence: 0n, count: () => 0 };
  expect(() => planJournals([journal(3, 5n, 2), journal(4, 6n, 2)], [], held)).toThrow(/journals 3 and 4 have different events/);
});
