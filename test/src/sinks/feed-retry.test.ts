import { describe, expect, test } from 'vitest';
import { pauseMs, untilDone } from '../../../src/sinks/feed-retry.ts';
import { DeliveryError } from '../../../src/sinks/sink.ts';

const unavailable = (retryAfterMs: number | null = null): DeliveryError => new DeliveryError('unavailable', 'away', { retryAfterMs });

/** Runs attempts that fail with these errors in turn and then succeed. */
async function attempt(errors: readonly Error[], stopping = new AbortController()) {
  const [left, pauses, told] = [[...errors], [] as number[], [] as string[]];
  const result = untilDone(
    async () => {
      const error = left.shift();
      if (error !== undefined) throw error;
      return 'done';
    },
    {
      stopping: stopping.signal,
      random: () => 0.5,
      tell: (message) => told.push(message),
      pause: async (lengthMs) => {
        pauses.push(lengthMs);
      },
    },
  );
  return { result: await result.catch((error: unknown) => error), pauses, told };
}

describe('an attempt', () => {
  test('that fails is repeated, with pauses that double on average up to half a minute', async () => {
    const { result, pauses, told } = await attempt(Array.from({ length: 8 }, () => unavailable()));
    expect([result, pauses]).toEqual(['done', [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]]);
    expect([told[0], told.at(-1)]).toEqual(['away; trying again in 0.3 s', 'works again']);
  });

  test('waits for as long as it is asked to, and a little more', async () => {
    expect((await attempt([unavailable(7_000)])).pauses).toEqual([7_500]);
  });

  test('that cannot heal ends at once', async () => {
    const refused = new DeliveryError('refused', 'no');
    expect(await attempt([unavailable(), refused])).toMatchObject({ result: refused, pauses: [250] });
    const defect = new TypeError('defect');
    expect(await attempt([defect])).toMatchObject({ result: defect, pauses: [], told: [] });
  });

  test('is not repeated when all is to stop', async () => {
    const stopping = new AbortController();
    const reason = new Error('stop');
    stopping.abort(reason);
    expect(await attempt([unavailable()], stopping)).toMatchObject({ result: reason, pauses: [], told: ['away'] });
  });
});

describe('a pause', () => {
  test.each([
    ['a Retry-After of nothing', 0, [500, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]],
    ['a short Retry-After', 2_000, [2_500, 2_500, 2_500, 2_500, 4_000, 8_000, 15_000, 15_000]],
    ['a long Retry-After', 60_000, Array.from({ length: 8 }, () => 60_500)],
  ])('asked for by %s is the longer of the two: it does not take the growing one away', async (_what, retryAfterMs, expected) => {
    expect((await attempt(Array.from({ length: 8 }, () => unavailable(retryAfterMs)))).pauses).toEqual(expected);
  });

  test.each([
    [1, 0, 0],
    [1, 0.999, 499.5],
    [3, 0.25, 500],
    [1_000, 0.5, 15_000],
  ])('after %i failures in a row is anything up to its bound: at %d it is %d ms', (failures, random, expected) => {
    expect(pauseMs(failures, null, () => random)).toBeCloseTo(expected);
  });
});
