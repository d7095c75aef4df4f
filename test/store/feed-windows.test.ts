import { expect, test } from 'vitest';
import type { SealedStretch } from '../../store/feed-plan.ts';
import type { FeedWindow } from '../../store/feed-window.ts';
import { FeedWindows } from '../../store/feed-windows.ts';

const stretchAt = (after: bigint): SealedStretch => ({ zones: 'all', after, upTo: after + 10n, events: 10, bytes: 1_000 });
const windowOf = ({ after, upTo }: SealedStretch): FeedWindow => ({ after, upTo, events: [], times: [] });

test('one window is made at a time, also behind one that fails', async () => {
  let making = 0;
  let most = 0;
  const windows = new FeedWindows(async (stretch) => {
    making += 1;
    most = Math.max(most, making);
    await new Promise(setImmediate);
    making -= 1;
    if (stretch.after === 10n) {
      throw new Error('no memory');
    }
    return windowOf(stretch);
  });
  const opened = [0n, 10n, 20n].map((after) => windows.open(stretchAt(after)));
  const outcomes = await Promise.allSettled(opened);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(most).toBe(1);
  await windows.close();
});
