import { expect, test } from 'vitest';
import { type EventIdentities, KnownEvents } from '../../store/known-events.ts';

const MINUTE = 60_000;

/** Events by pairs of a minute and an identity. */
function events(...pairs: readonly (readonly [minute: number, identity: number])[]): EventIdentities {
  return {
    identities: Float64Array.from(pairs, ([, identity]) => identity),
    times: Float64Array.from(pairs, ([minute], place) => minute * MINUTE + place),
  };
}

const ROOM = { mostEvents: 100, mostInUse: 100 };

/** So many loads of other minutes that those before them count as used no more. */
function loadOthers(known: KnownEvents): void {
  for (let load = 0; load < 64; load += 1) {
    known.missing(events());
    known.add(events());
  }
}

test('of a minute nothing is known until its events were given', () => {
  const known = new KnownEvents(ROOM);
  expect(known.missing(events([7, 1], [5, 2], [7, 3]))).toEqual([5, 7]);
  known.begin([5], []);
  expect(known.missing(events([7, 1], [5, 2]))).toEqual([7]);
  known.begin([7], []);
  expect(known.missing(events([7, 1], [5, 2]))).toEqual([]);
});

test('an event is there that was stored before its minute was known, or came later, or comes twice at once', () => {
  const known = new KnownEvents(ROOM);
  known.begin([5, 6], [events([5, 50]), events([6, 60], [7, 70])]);
  expect(known.add(events([5, 1], [6, 2]))).toBe(true);
  expect(known.add(events([5, 3], [5, 50]))).toBe(false);
  expect(known.add(events([6, 60]))).toBe(false);
  expect(known.add(events([6, 4], [6, 4]))).toBe(false);
  expect(known.add(events([5, 1]))).toBe(false);
  expect(known.add(events([6, 2]))).toBe(false);
  // What came beside one that was there has come, too.
  expect(known.add(events([5, 3]))).toBe(false);
});

test('events of a minute that is not known are not kept', () => {
  const known = new KnownEvents(ROOM);
  expect(known.add(events([5, 1], [5, 1]))).toBe(true);
  expect(known.missing(events([5, 1]))).toEqual([5]);
});

test('minutes go once there are too many events in them and no load used them for a while, the one first that was used longest ago', () => {
  const known = new KnownEvents({ mostEvents: 4, mostInUse: 1_000 });
  known.begin([1, 2, 3], []);
  known.missing(events([2, 20]));
  known.add(events([2, 20], [2, 21]));
  loadOthers(known);
  known.missing(events([1, 10], [3, 30]));
  known.add(events([1, 10], [3, 30]));
  loadOthers(known);
  // Four: none too many. Minute 2 is the one used longest ago.
  known.missing(events([3, 31]));
  known.add(events([3, 31]));
  expect(known.missing(events([1, 10], [2, 20], [3, 30]))).toEqual([2]);
});

test('minutes that events keep coming from stay, however many events are in them, up to a limit', () => {
  const known = new KnownEvents({ mostEvents: 4, mostInUse: 9 });
  known.begin([1, 2], []);
  known.missing(events([1, 10], [2, 20]));
  known.add(events([1, 10], [1, 11], [1, 12], [2, 20]));
  known.missing(events([2, 21]));
  known.add(events([2, 21], [2, 22], [2, 23], [2, 24], [2, 25]));
  expect(known.missing(events([1, 10]))).toEqual([]);
  known.missing(events([2, 26]));
  known.add(events([2, 26]));
  // Ten: minute 1 goes, and of the last load none, however many it has.
  known.add(events(...Array.from({ length: 20 }, (_, n) => [2, 100 + n] as const)));
  expect(known.missing(events([2, 20]))).toEqual([]);
  expect(known.missing(events([1, 10]))).toEqual([1]);
});
