import { expect, test } from 'vitest';
import { sharesOf } from '../../../web/overview/share-over-time.ts';

test.each([
  ['no bars', [], [], [], null],
  ['bars without events', [0, 0], [0, 0], [null, null], null],
  ['a bar without events among others', [1, 0, 3], [4, 0, 3], [0.25, null, 1], 4 / 7],
  ['bars without events of the part', [0, 0], [4, 5], [0, 0], 0],
  ['a part that has grown between two answers', [5, 1], [4, 4], [1, 0.25], 0.75],
])('the share of %s', (_what, part, all, shares, whole) => {
  expect(sharesOf(part, all)).toEqual({ shares, whole });
});
