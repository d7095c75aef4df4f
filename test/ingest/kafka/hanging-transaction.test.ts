import { expect, it } from 'vitest';
import { hangingTransactions, noteEnds } from '../../../ingest/kafka/hanging-transaction.ts';
import { partitionCursor } from '../../../ingest/kafka/kafka-partition.ts';

type Fetch = readonly [atMs: number, lastStableOffset: number | undefined, highWatermark: number];

/** The transactions that hang after these fetches of a partition, as [offset, end, since]. */
function hangingAfter(fetches: readonly Fetch[]) {
  const cursor = partitionCursor('t', 3);
  for (const [atMs, stable, end] of fetches) {
    const rawMessages = Object.assign([], stable === undefined ? {} : { lastStableOffset: String(stable) });
    noteEnds(cursor, { highWatermark: String(end), rawMessages }, atMs);
  }
  return hangingTransactions([cursor, partitionCursor('t', 4)]).map(({ offset, end, sinceMs }) => [Number(offset), Number(end), sinceMs]);
}

const cases: readonly (readonly [name: string, fetches: readonly Fetch[], hanging: readonly (readonly number[])[]])[] = [
  [
    'one that is open for a minute',
    [
      [0, 5, 9],
      [60_000, 5, 9],
    ],
    [[5, 9, 0]],
  ],
  [
    'one behind which the partition goes on',
    [
      [0, 5, 9],
      [30_000, 5, 20],
      [60_000, 5, 33],
    ],
    [[5, 33, 0]],
  ],
  [
    'none that is open for less',
    [
      [0, 5, 9],
      [59_999, 5, 9],
    ],
    [],
  ],
  [
    'none where each ends and the next begins',
    [
      [0, 5, 9],
      [40_000, 7, 12],
      [80_000, 9, 15],
    ],
    [],
  ],
  [
    'none that has ended',
    [
      [0, 5, 9],
      [70_000, 5, 9],
      [70_100, 10, 10],
    ],
    [],
  ],
  [
    'one by its own time, not by that of another before it',
    [
      [0, 5, 9],
      [50_000, 7, 12],
      [110_000, 7, 12],
    ],
    [[7, 12, 50_000]],
  ],
  [
    'one that begins anew where one had ended',
    [
      [0, 5, 5],
      [10, 5, 9],
      [50, 9, 9],
      [60, 5, 9],
      [60_059, 5, 9],
    ],
    [],
  ],
  ['none of a partition that was not fetched for a minute', [[0, 5, 9]], []],
  [
    'none by brokers before transactions',
    [
      [0, undefined, 9],
      [60_000, undefined, 9],
    ],
    [],
  ],
  [
    'one, whatever a fetch without an end comes between',
    [
      [0, 5, 9],
      [10, -1, -1],
      [60_000, 5, 9],
    ],
    [[5, 9, 0]],
  ],
];

it.each(cases)('tells %s', (_name, fetches, hanging) => {
  expect(hangingAfter(fetches)).toEqual(hanging);
});
