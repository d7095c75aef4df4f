import { expect, test } from 'vitest';
import { chooseSegments, type SharedEvents } from '../../../../store/embedded/repair/kept-segments.ts';

interface Case {
  /** The events of each file. */
  readonly files: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
  readonly doubled?: readonly string[];
}

/** `k` is an hour after `a` in base 36. */
const CASES: Readonly<Record<string, Case>> = {
  'files without a common event': { files: { 'j1-a-0.parquet': 'ab', 'j2-a-0.parquet': 'cd' }, leftOut: [] },
  'the inputs of a merge beside its output': {
    files: { 'j1-a-0.parquet': 'ab', 'j2-a-0.parquet': 'cd', 'c1-k-0.parquet': 'abcd' },
    leftOut: ['j1-a-0.parquet', 'j2-a-0.parquet'],
  },
  'the first output of a merge that was not finished': {
    files: { 'j1-a-0.parquet': 'ab', 'j2-a-0.parquet': 'cd', 'c1-k-0.parquet': 'ac' },
    leftOut: [],
    doubled: ['j1-a-0.parquet', 'j2-a-0.parquet'],
  },
  'the output of a merge beside an input that was larger than it, and one that is whole in it': {
    files: { 'j1-a-0.parquet': 'ab', 'j2-a-0.parquet': 'cde', 'c1-k-0.parquet': 'abc' },
    leftOut: ['j1-a-0.parquet'],
    doubled: ['j2-a-0.parquet'],
  },
  'an input that was not removed yet': {
    files: { 'j2-a-0.parquet': 'cd', 'c1-k-0.parquet': 'abc', 'c1-k-1.parquet': 'd' },
    leftOut: ['j2-a-0.parquet'],
  },
  'two merges, one of the output of the other': {
    files: { 'j1-a-0.parquet': 'ab', 'c1-k-0.parquet': 'abcd', 'j3-a-0.parquet': 'ef', 'c4-l-0.parquet': 'abcdef' },
    leftOut: ['c1-k-0.parquet', 'j1-a-0.parquet', 'j3-a-0.parquet'],
  },
  'a second merge that was not finished': {
    files: { 'j1-a-0.parquet': 'ab', 'c1-k-0.parquet': 'abcd', 'j3-a-0.parquet': 'ef', 'c4-l-0.parquet': 'ace' },
    leftOut: ['j1-a-0.parquet'],
    doubled: ['c1-k-0.parquet', 'j3-a-0.parquet'],
  },
  'a flush that was written twice': { files: { 'j1-a-0.parquet': 'ab', 'j1-k-0.parquet': 'ab' }, leftOut: ['j1-a-0.parquet'] },
  'an output whose other one has expired, beside an input that came back': {
    files: { 'j2-a-0.parquet': 'bc', 'c1-k-0.parquet': 'abd' },
    leftOut: [],
    doubled: ['j2-a-0.parquet'],
  },
};

/** Who holds what, as the statement over the files tells it. */
function sharedIn(files: Case['files']): SharedEvents[] {
  const events = [...new Set(Object.values(files).flatMap((held) => [...held]))];
  const holders = events.map((event) => Object.keys(files).filter((file) => files[file]?.includes(event)));
  const byFiles = Map.groupBy(
    holders.filter((held) => held.length > 1),
    (held) => held.join(),
  );
  return [...byFiles.values()].map((all) => ({ files: all[0] ?? [], events: all.length }));
}

test.each(Object.entries(CASES))('of %s each event is kept once', (_, { files, leftOut, doubled = [] }) => {
  const all = Object.entries(files).map(([file, events]) => ({ file, rows: events.length }));
  const chosen = chooseSegments(all, sharedIn(files));
  expect([...chosen.leftOut].sort()).toEqual(leftOut);
  expect([...chosen.doubled].sort()).toEqual(doubled);
  const kept = Object.entries(files).flatMap(([file, events]) => (chosen.leftOut.has(file) ? [] : [...events]));
  expect(new Set(kept)).toEqual(new Set(Object.values(files).flatMap((events) => [...events])));
  if (doubled.length === 0) expect(kept).toHaveLength(new Set(kept).size);
});
