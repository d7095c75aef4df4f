import { describe, expect, test } from 'vitest';
import { type CountedRange, MOST_ROWS_AT_ONCE, newestLast, takeNewest } from '../../store/counted-ranges.ts';

const SLOTS = 16;

/** Counts events by slots of a window, as stores do: `times` has how many there are at each millisecond. */
function counterOf(times: ReadonlyMap<number, number>) {
  return async ({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): Promise<readonly CountedRange[]> => {
    const slotMs = Math.ceil((toMs - fromMs) / SLOTS);
    const ranges: CountedRange[] = [];
    for (let begin = fromMs; begin < toMs; begin += slotMs) {
      const end = Math.min(toMs, begin + slotMs);
      const events = [...times].reduce((sum, [atMs, count]) => sum + (atMs >= begin && atMs < end ? count : 0), 0);
      if (events > 0) ranges.push({ fromMs: begin, toMs: end, events });
    }
    return ranges;
  };
}

const WINDOW = { fromMs: 1_000, toMs: 5_096 };

describe.each<[string, ReadonlyMap<number, number>]>([
  ['no events', new Map()],
  ['one event', new Map([[1_000, 1]])],
  ['few events all over the window', new Map(Array.from({ length: 200 }, (_, index) => [1_000 + 20 * index, 1]))],
  [
    'as many as are read together in each slot',
    new Map(Array.from({ length: 16 }, (_, index) => [1_000 + 256 * index, MOST_ROWS_AT_ONCE])),
  ],
  ['a crowd around one time', new Map(Array.from({ length: 40 }, (_, index) => [3_000 + index, 500]))],
  [
    'more in a millisecond than are read together',
    new Map([
      [2_000, 3 * MOST_ROWS_AT_ONCE],
      [2_001, 7],
    ]),
  ],
])('the ranges of %s', (_, times) => {
  test('have each event once, the newest first, and few enough of them where time divides them', async () => {
    const count = counterOf(times);
    const ahead = newestLast(await count(WINDOW));
    const taken: CountedRange[] = [];
    for (let range = await takeNewest(ahead, count); range !== undefined; range = await takeNewest(ahead, count)) taken.push(range);
    const within = ({ fromMs, toMs }: CountedRange) =>
      [...times].reduce((sum, [atMs, events]) => sum + (atMs >= fromMs && atMs < toMs ? events : 0), 0);
    expect(taken.map(({ events }) => events)).toEqual(taken.map(within));
    expect(taken.reduce((sum, { events }) => sum + events, 0)).toBe([...times.values()].reduce((sum, events) => sum + events, 0));
    expect(taken.every(({ toMs }, index) => index === 0 || toMs <= (taken[index - 1] as CountedRange).fromMs)).toBe(true);
    expect(taken.every(({ fromMs, toMs, events }) => events <= MOST_ROWS_AT_ONCE || toMs - fromMs === 1)).toBe(true);
  });
});

test('neighbours that fit together are read together', async () => {
  const ahead = [1_000, 2_000, 3_000].map((fromMs) => ({ fromMs, toMs: fromMs + 1_000, events: MOST_ROWS_AT_ONCE / 2 }));
  const nothing = async (): Promise<CountedRange[]> => [];
  expect(await takeNewest(ahead, nothing)).toEqual({ fromMs: 2_000, toMs: 4_000, events: MOST_ROWS_AT_ONCE });
  expect(await takeNewest(ahead, nothing)).toEqual({ fromMs: 1_000, toMs: 2_000, events: MOST_ROWS_AT_ONCE / 2 });
});

test('a range whose events could not be counted is still the next one', async () => {
  const counted = [{ fromMs: 1_500, toMs: 2_000, events: MOST_ROWS_AT_ONCE }];
  const ahead = [{ fromMs: 1_000, toMs: 2_000, events: MOST_ROWS_AT_ONCE + 1 }];
  await expect(takeNewest(ahead, () => Promise.reject(new Error('cannot be counted')))).rejects.toThrow('cannot be counted');
  expect(await takeNewest(ahead, async () => counted)).toEqual(counted[0]);
});
