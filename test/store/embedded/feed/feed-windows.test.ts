import { expect, test } from 'vitest';
import type { FlushedRange } from '../../../../store/embedded/feed/feed-events.ts';
import { type FeedWindow, FeedWindows } from '../../../../store/embedded/feed/feed-windows.ts';

const rangeAt = (after: bigint): FlushedRange => ({ zones: 'all', after, upTo: after + 10n, events: 10, bytes: 1_000 });
const windowOf = ({ after, upTo }: FlushedRange): FeedWindow => ({ after, upTo, times: [] });

test('one window is made at a time, also behind one that fails', async () => {
  let making = 0;
  let maxMaking = 0;
  const windows = new FeedWindows(async (range) => {
    making += 1;
    maxMaking = Math.max(maxMaking, making);
    await new Promise(setImmediate);
    making -= 1;
    if (range.after === 10n) {
      throw new Error('no memory');
    }
    return windowOf(range);
  });
  const opened = [0n, 10n, 20n].map((after) => windows.open(rangeAt(after)));
  const outcomes = await Promise.allSettled(opened);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(maxMaking).toBe(1);
  await windows.close();
});
