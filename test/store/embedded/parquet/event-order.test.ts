import { expect, test } from 'vitest';
import { orderBy } from '../../../../store/embedded/parquet/event-order.ts';

test('events are sorted by the first key, then by the next; what is the same stays in its order', () => {
  const first = Uint32Array.of(5, 2, 5, 4_000_000_000, 2, 5);
  const second = Uint32Array.of(1, 9, 0, 3, 9, 1);
  expect([...orderBy(6, [first, second])]).toEqual([1, 4, 2, 0, 5, 3]);
  expect([...orderBy(0, [first])]).toEqual([]);
});

test('numbers of any size are sorted', () => {
  const key = Uint32Array.from({ length: 5_000 }, (_, index) => (index * 2_654_435_761) % 2 ** 32);
  const expected = [...key.keys()].sort((a, b) => (key[a] as number) - (key[b] as number));
  expect([...orderBy(key.length, [key])]).toEqual(expected);
});
