import { expect, test } from 'vitest';
import type { FlushedRange } from '../../../../store/embedded/feed/feed-events.ts';
import { type FeedExcerpt, FeedExcerpts } from '../../../../store/embedded/feed/feed-excerpts.ts';

const rangeAt = (after: bigint): FlushedRange => ({ zones: 'all', after, upTo: after + 10n, events: 10, bytes: 1_000 });
const excerptOf = ({ after, upTo }: FlushedRange): FeedExcerpt => ({ after, upTo, times: [] });

test('one excerpt is made at a time, also behind one that fails', async () => {
  let making = 0;
  let maxMaking = 0;
  const excerpts = new FeedExcerpts(async (range) => {
    making += 1;
    maxMaking = Math.max(maxMaking, making);
    await new Promise(setImmediate);
    making -= 1;
    if (range.after === 10n) {
      throw new Error('no memory');
    }
    return excerptOf(range);
  });
  const opened = [0n, 10n, 20n].map((after) => excerpts.open(rangeAt(after)));
  const outcomes = await Promise.allSettled(opened);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(maxMaking).toBe(1);
  await excerpts.close();
});
