import { expect, test } from 'vitest';
import { EmbeddedPositions, feedPosition } from '../../../../store/embedded/feed/feed-positions.ts';

const positions = new EmbeddedPositions({
  storeId: 0xc5d443d5,
  versions: { endSequence: 243n },
  // Run 3 removed events up to sequence 16.
  expiredWatermarks: { runs: 3, sequence: (_, afterRuns = 0) => (afterRuns < 3 ? 16n : 0n) },
});

test('cursors keep their text', async () => {
  const cursors = [
    ['AcXUQ9UAAAAAAAAAAAAAAAJr6J9_', feedPosition(0n, 2)],
    ['AcXUQ9UAAAAAAAAAZAAAAAIHWk7y', feedPosition(100n, 2)],
    ['AcXUQ9UAAAAAAAAA8gAAAAJZHJxC', feedPosition(242n, 2)],
  ] as const;
  for (const [text, position] of cursors) {
    expect(positions.encode(position)).toBe(text);
    expect(await positions.decode(text)).toEqual(position);
  }
});

test('positions are in the order of the feed, whatever their readers know of the retention', () => {
  expect(positions.compare(feedPosition(9n, 5), feedPosition(10n, 1))).toBeLessThan(0);
  expect(positions.compare({ sequence: 10n }, feedPosition(9n))).toBeGreaterThan(0);
  expect(positions.compare(feedPosition(9n, 1), feedPosition(9n, 2))).toBe(0);
});

test('a reader that moves on never goes back, and knows of no more runs of the retention than before', () => {
  expect(positions.advance(feedPosition(5n, 1), { sequence: 7n })).toEqual(feedPosition(7n, 1));
  expect(positions.advance(feedPosition(5n, 1), feedPosition(8n, 3))).toEqual(feedPosition(8n, 1));
  expect(positions.advance(feedPosition(5n, 1), feedPosition(4n, 3))).toEqual(feedPosition(5n, 1));
});

test('a reader who has missed events goes on where it is, and is not told of them again', async () => {
  expect(await positions.afterExpiry('all', feedPosition(5n, 2))).toEqual(feedPosition(5n, 3));
  expect(await positions.afterExpiry('all', feedPosition(5n, 3))).toBeUndefined();
  expect(await positions.afterExpiry('all', feedPosition(16n, 2))).toBeUndefined();
  expect([await positions.oldest(), await positions.newest()]).toEqual([feedPosition(0n, 3), feedPosition(242n, 3)]);
});
