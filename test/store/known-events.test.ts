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

const NONE = events();

test('of a minute nothing is known until its events were given', () => {
  const known = new KnownEvents(100);
  expect(known.missing(events([7, 1], [5, 2], [7, 3]))).toEqual({ minutes: [5, 7], fromMs: 5 * MINUTE, toMs: 8 * MINUTE });
  known.begin([5], NONE);
  expect(known.missing(events([7, 1], [5, 2]))).toMatchObject({ minutes: [7] });
  known.begin([7], NONE);
  expect(known.missing(events([7, 1], [5, 2]))).toBeUndefined();
});

test('an event is there that was stored before its minute was known, or came later, or comes twice at once', () => {
  const known = new KnownEvents(100);
  known.begin([5, 6], events([5, 50], [6, 60], [7, 70]));
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
  const known = new KnownEvents(100);
  expect(known.add(events([5, 1], [5, 1]))).toBe(true);
  expect(known.missing(events([5, 1]))).toMatchObject({ minutes: [5] });
});

test('minutes go once there are too many events in them, the one first that was used longest ago, and never one that is used now', () => {
  const known = new KnownEvents(4);
  known.begin([1, 2, 3], NONE);
  known.add(events([1, 10], [2, 20]));
  known.add(events([3, 30]));
  expect(known.missing(events([1, 10]))).toBeUndefined();
  known.add(events([3, 31], [3, 32]));
  expect(known.missing(events([1, 10], [3, 30]))).toBeUndefined();
  expect(known.missing(events([2, 20]))).toMatchObject({ minutes: [2] });
  known.add(events([3, 33], [3, 34], [3, 35], [3, 36]));
  expect(known.missing(events([3, 30]))).toBeUndefined();
  expect(known.missing(events([1, 10]))).toMatchObject({ minutes: [1] });
});
