import { expect, test } from 'vitest';
import { DedupIndex, type EventDedupKeys } from '../../../../store/embedded/memtable/dedup-index.ts';

const MINUTE = 60_000;

/** Makes events of pairs of a minute and a dedup key. */
function events(...pairs: readonly (readonly [minute: number, dedupKey: number])[]): EventDedupKeys {
  return {
    dedupKeys: Float64Array.from(pairs, ([, dedupKey]) => dedupKey),
    times: Float64Array.from(pairs, ([minute], index) => minute * MINUTE + index),
  };
}

const ROOM = { maxEvents: 100, maxInUse: 100 };

/** Loads events of other minutes until the minutes before no longer count as used. */
function loadOthers(index: DedupIndex): void {
  for (let load = 0; load < 64; load += 1) {
    index.missing(events());
    index.add(events());
  }
}

test('of a minute nothing is known until its events were given', () => {
  const index = new DedupIndex(ROOM);
  expect(index.missing(events([7, 1], [5, 2], [7, 3]))).toEqual([5, 7]);
  index.begin([5], []);
  expect(index.missing(events([7, 1], [5, 2]))).toEqual([7]);
  index.begin([7], []);
  expect(index.missing(events([7, 1], [5, 2]))).toEqual([]);
});

test('an event is there that was stored before its minute was indexed, or came later, or comes twice at once', () => {
  const index = new DedupIndex(ROOM);
  index.begin([5, 6], [events([5, 50]), events([6, 60], [7, 70])]);
  expect(index.add(events([5, 1], [6, 2]))).toBe(true);
  expect(index.add(events([5, 3], [5, 50]))).toBe(false);
  expect(index.add(events([6, 60]))).toBe(false);
  expect(index.add(events([6, 4], [6, 4]))).toBe(false);
  expect(index.add(events([5, 1]))).toBe(false);
  expect(index.add(events([6, 2]))).toBe(false);
  // The new events beside a known one are added, too.
  expect(index.add(events([5, 3]))).toBe(false);
});

test('events of a minute that is not known are not kept', () => {
  const index = new DedupIndex(ROOM);
  expect(index.add(events([5, 1], [5, 1]))).toBe(true);
  expect(index.missing(events([5, 1]))).toEqual([5]);
});

test('minutes go once there are too many events in them and no load used them for a while, the one first that was used longest ago', () => {
  const index = new DedupIndex({ maxEvents: 4, maxInUse: 1_000 });
  index.begin([1, 2, 3], []);
  index.missing(events([2, 20]));
  index.add(events([2, 20], [2, 21]));
  loadOthers(index);
  index.missing(events([1, 10], [3, 30]));
  index.add(events([1, 10], [3, 30]));
  loadOthers(index);
  // The index has four events, which is the limit. Minute 2 was used longest ago.
  index.missing(events([3, 31]));
  index.add(events([3, 31]));
  expect(index.missing(events([1, 10], [2, 20], [3, 30]))).toEqual([2]);
});

test('minutes that events keep coming from stay, however many events are in them, up to a limit', () => {
  const index = new DedupIndex({ maxEvents: 4, maxInUse: 9 });
  index.begin([1, 2], []);
  index.missing(events([1, 10], [2, 20]));
  index.add(events([1, 10], [1, 11], [1, 12], [2, 20]));
  index.missing(events([2, 21]));
  index.add(events([2, 21], [2, 22], [2, 23], [2, 24], [2, 25]));
  expect(index.missing(events([1, 10]))).toEqual([]);
  index.missing(events([2, 26]));
  index.add(events([2, 26]));
  // The index has ten events. Minute 1 is evicted; the minutes of the last load stay, however many events they have.
  index.add(events(...Array.from({ length: 20 }, (_, n) => [2, 100 + n] as const)));
  expect(index.missing(events([2, 20]))).toEqual([]);
  expect(index.missing(events([1, 10]))).toEqual([1]);
});
