import { expect, test } from 'vitest';
import { FeedExcerpts } from '../../store/feed-excerpts.ts';

const rangeAt = (after: bigint) => ({ zones: 'all', after, upTo: after + 10n }) as const;

test('one excerpt is made at a time, also behind one that fails', async () => {
  let making = 0;
  let maxMaking = 0;
  const excerpts = new FeedExcerpts(async (range: ReturnType<typeof rangeAt>) => {
    making += 1;
    maxMaking = Math.max(maxMaking, making);
    await new Promise(setImmediate);
    making -= 1;
    if (range.after === 10n) {
      throw new Error('no memory');
    }
    return range;
  });
  const opened = [0n, 10n, 20n].map((after) => excerpts.open(rangeAt(after)));
  const outcomes = await Promise.allSettled(opened);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(maxMaking).toBe(1);
  await excerpts.close();
});
