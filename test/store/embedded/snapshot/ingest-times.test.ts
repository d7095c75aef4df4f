import { describe, expect, test } from 'vitest';
import {
  firstSequenceFrom,
  type IngestTime,
  ingestClock,
  ingestTimeAt,
  packIngestTimes,
  unpackIngestTimes,
} from '../../../../store/embedded/snapshot/ingest-times.ts';

const NOON_MS = Date.UTC(2026, 0, 1, 12);

const at = (firstSequence: bigint, atMs: number): IngestTime => ({ firstSequence, atMs });

describe('packed ingest times', () => {
  test.each([
    ['none', []],
    ['one', [at(1n, NOON_MS)]],
    ['several', [at(1n, NOON_MS), at(5_001n, NOON_MS + 80), at(5_002n, NOON_MS + 81)]],
    ['a clock that was set back', [at(1n, NOON_MS), at(2n, NOON_MS - 3_600_000), at(3n, NOON_MS)]],
    ['batches of one time', [at(1n, NOON_MS), at(2n, NOON_MS)]],
    ['times around 1970', [at(1n, -1), at(2n, 0), at(3n, 1)]],
    ['differences of 63, 64, 127 and 128', [at(127n, 63), at(255n, 127), at(256n, 254), at(257n, 382)]],
    ['a high sequence', [at(2n ** 48n, NOON_MS), at(2n ** 62n, NOON_MS + 1)]],
  ])('are the times again: %s', (_what, times) => {
    expect(unpackIngestTimes(packIngestTimes(times))).toEqual(times);
  });

  test('take a few bytes for each batch', () => {
    const times = Array.from({ length: 100 }, (_, batch) => at(BigInt(batch * 1_000), NOON_MS + batch * 30));
    expect(packIngestTimes(times).byteLength).toBeLessThan(100 * 4);
  });
});

test('the clock of the ingest times knows the batch of each event, in whatever order the batches are given', () => {
  const clock = ingestClock([at(100n, NOON_MS + 2), at(1n, NOON_MS), at(50n, NOON_MS + 1)]);
  expect([1n, 49n, 50n, 51n, 99n, 100n, 2n ** 60n].map(clock).map((ms) => ms - NOON_MS)).toEqual([0, 0, 1, 1, 1, 2, 2]);
});

describe('of a store with three batches on disk and two that are not flushed', () => {
  const blobFile = (times: readonly IngestTime[]) => ({ minSequence: times[0]?.firstSequence ?? 0n, ingestTimes: packIngestTimes(times) });
  const parts = {
    // In no order. The first file begins behind events that have expired.
    blobFiles: [blobFile([at(31n, NOON_MS + 300)]), blobFile([at(11n, NOON_MS + 100), at(21n, NOON_MS + 200)])],
    growingSegments: [{ journals: [at(41n, NOON_MS + 400)] }, { journals: [at(51n, NOON_MS + 500)] }],
  };
  const none = { blobFiles: [], growingSegments: [] };

  test.each([
    [10n, undefined],
    [11n, 100],
    [20n, 100],
    [21n, 200],
    [30n, 200],
    [31n, 300],
    [40n, 300],
    [41n, 400],
    [50n, 400],
    [51n, 500],
    [99n, 500],
  ])('the newest event up to the sequence %i was taken in at %s', (sequence, expected) => {
    expect(ingestTimeAt(parts, sequence)).toBe(expected === undefined ? 0 : NOON_MS + expected);
    expect(ingestTimeAt(none, sequence)).toBe(0);
  });

  test.each([
    [0, 11n],
    [100, 11n],
    [101, 21n],
    [201, 31n],
    [300, 31n],
    [301, 41n],
    [500, 51n],
    [501, undefined],
  ])('what came in %i ms after noon or later begins at the sequence %s', async (ms, expected) => {
    expect(await firstSequenceFrom(parts, NOON_MS + ms)).toBe(expected);
    expect(await firstSequenceFrom(none, NOON_MS + ms)).toBeUndefined();
  });

  test('where the clock was set back, nothing is skipped that came in at the time before that', async () => {
    const setBack = { blobFiles: [blobFile([at(1n, NOON_MS + 900), at(2n, NOON_MS)])], growingSegments: [] };
    expect(await firstSequenceFrom(setBack, NOON_MS + 500)).toBe(1n);
  });
});
