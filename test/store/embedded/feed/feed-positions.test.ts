import { expect, test } from 'vitest';
import { cursorText, EmbeddedPositions, feedPosition } from '../../../../store/embedded/feed/feed-positions.ts';
import { CursorAhead, type FeedPosition } from '../../../../store/event-store.ts';

const STORE_ID = 0xc5d443d5;
/** Of three starts of the store; in the second one nothing came. */
const [FIRST, SECOND, THIRD] = [STORE_ID, 0x11111111, 0x22222222] as const;
const NEVER_HERE = 0x33333333;

const positions = new EmbeddedPositions({
  storeId: STORE_ID,
  epochs: {
    list: () => [
      { epoch: FIRST, firstSequence: 1n, sweeps: 0 },
      { epoch: SECOND, firstSequence: 243n, sweeps: 2 },
      { epoch: THIRD, firstSequence: 243n, sweeps: 2 },
    ],
  },
  versions: { endSequence: 301n, blobFiles: [], growingSegments: [{ journals: [{ firstSequence: 200n, atMs: 1_000 }] }] },
  // Run 3 removed events up to sequence 16.
  expiredWatermarks: { sweeps: 3, sequence: (_, afterRuns = 0) => (afterRuns < 3 ? 16n : 0n) },
});

test('cursors are of the last start, and keep their text', async () => {
  const cursors = [
    ['ASIiIiJD1QAAAAAAAAAAAALWRunx', feedPosition(0n, 2)],
    ['ASIiIiJD1QAAAAAAZAAAAAK69Dh8', feedPosition(100n, 2)],
    ['ASIiIiJD1QAAAAABLAAAAANuLMjH', feedPosition(300n, 3)],
  ] as const;
  for (const [text, position] of cursors) {
    expect(positions.encode(position)).toBe(text);
    expect(await positions.decode(text)).toEqual(position);
  }
});

test('cursors of earlier programs are those of the first start', async () => {
  for (const [text, position] of [
    ['AcXUQ9UAAAAAAAAAAAAAAAJr6J9_', feedPosition(0n, 2)],
    ['AcXUQ9UAAAAAAAAAZAAAAAIHWk7y', feedPosition(100n, 2)],
    ['AcXUQ9UAAAAAAAAA8gAAAAJZHJxC', feedPosition(242n, 2)],
  ] as const) {
    expect(cursorText(position, FIRST)).toBe(text);
    expect(await positions.decode(text)).toEqual(position);
  }
});

const goesOn = (position: FeedPosition) => position;
const endsAt = (position: FeedPosition) => new CursorAhead(position, { isEndKnown: true });
const beginsAnew = new CursorAhead(feedPosition(0n, 3), { isEndKnown: false });

test.each<[string, string, FeedPosition | CursorAhead | string]>([
  ['at the end of an earlier start', cursorText(feedPosition(242n, 2), FIRST, STORE_ID), goesOn(feedPosition(242n, 2))],
  ['one past it', cursorText(feedPosition(243n, 2), FIRST, STORE_ID), endsAt(feedPosition(242n, 2))],
  ['at the end of a start in which nothing came', cursorText(feedPosition(242n, 2), SECOND, STORE_ID), goesOn(feedPosition(242n, 2))],
  ['past that', cursorText(feedPosition(250n, 2), SECOND, STORE_ID), endsAt(feedPosition(242n, 2))],
  ['at the end of this start', cursorText(feedPosition(300n, 3), THIRD, STORE_ID), goesOn(feedPosition(300n, 3))],
  ['one past this start', cursorText(feedPosition(301n, 3), THIRD, STORE_ID), endsAt(feedPosition(300n, 3))],
  ['that knows of sweeps of the retention elsewhere', cursorText(feedPosition(9n, 7), FIRST, STORE_ID), goesOn(feedPosition(9n, 2))],
  ['past its end with sweeps elsewhere', cursorText(feedPosition(999n, 7), SECOND, STORE_ID), endsAt(feedPosition(242n, 2))],
  ['of this start with sweeps that it did not have', cursorText(feedPosition(9n, 4), THIRD, STORE_ID), endsAt(feedPosition(9n, 3))],
  ['of a start on a copy of the folder', cursorText(feedPosition(9n, 0), NEVER_HERE, STORE_ID), beginsAnew],
  ['of another store', cursorText(feedPosition(9n, 0), NEVER_HERE, 7), 'is a cursor of another store: it means nothing here'],
  ['of another store by an earlier program', cursorText(feedPosition(9n, 0), 7), 'is a cursor of another store: it means nothing here'],
])('a cursor %s', async (_, text, expected) => {
  expect(await positions.decode(text)).toEqual(expected);
});

test('the first start may be forgotten: a cursor of an earlier program is then not taken for one of another store', async () => {
  const forgetful = new EmbeddedPositions({
    storeId: STORE_ID,
    epochs: { list: () => [{ epoch: THIRD, firstSequence: 243n, sweeps: 2 }] },
    versions: { endSequence: 301n, blobFiles: [], growingSegments: [] },
    expiredWatermarks: { sweeps: 3, sequence: () => 0n },
  });
  expect(await forgetful.decode(cursorText(feedPosition(9n, 0), FIRST))).toEqual(beginsAnew);
});

test('positions are in the order of the feed, whatever their readers know of the retention', () => {
  expect(positions.compare(feedPosition(9n, 5), feedPosition(10n, 1))).toBeLessThan(0);
  expect(positions.compare({ sequence: 10n }, feedPosition(9n))).toBeGreaterThan(0);
  expect(positions.compare(feedPosition(9n, 1), feedPosition(9n, 2))).toBe(0);
});

test('a reader that moves on never goes back, and knows of no more sweeps of the retention than before', () => {
  expect(positions.advance(feedPosition(5n, 1), { sequence: 7n })).toEqual(feedPosition(7n, 1));
  expect(positions.advance(feedPosition(5n, 1), feedPosition(8n, 3))).toEqual(feedPosition(8n, 1));
  expect(positions.advance(feedPosition(5n, 1), feedPosition(4n, 3))).toEqual(feedPosition(5n, 1));
});

test('a reader who has missed events goes on where it is, and is not told of them again', async () => {
  expect(await positions.afterExpiry('all', feedPosition(5n, 2))).toEqual(feedPosition(5n, 3));
  expect(await positions.afterExpiry('all', feedPosition(5n, 3))).toBeUndefined();
  expect(await positions.afterExpiry('all', feedPosition(16n, 2))).toBeUndefined();
  expect([await positions.oldest(), await positions.newest()]).toEqual([feedPosition(0n, 3), feedPosition(300n, 3)]);
});

test('the position of a time is before what came in then or later, and that of a later time is the newest', async () => {
  expect(await positions.at(1_000)).toEqual(feedPosition(199n, 3));
  expect(await positions.at(1_001)).toEqual(feedPosition(300n, 3));
});
