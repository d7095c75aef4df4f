import { describe, expect, test } from 'vitest';
import { type IngestTime, ingestClock, packIngestTimes, unpackIngestTimes } from '../../../../store/embedded/snapshot/ingest-times.ts';

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
