import { expect, test } from 'vitest';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { event, HOUR, NOW } from '../store/embedded/stored-events.ts';
import { breakableServer } from './engine.ts';
import { everythingIn, readFeed, sharedStore } from './shared-store.ts';

/** Events of two days. */
const SIX = Array.from({ length: 6 }, (_, index) => event(`e${index}`, NOW - index * 8 * HOUR));
const IDS = SIX.map(({ logId }) => logId);
const INSERT = '^INSERT INTO "events_local"';

const offsets = (nextOffset: bigint) => ({ sourceOffsets: [{ topic: 't', partition: 0, nextOffset }] });

/** How the insert of a writer that nobody waits for any more comes late; `letGo` lets it run to its end. */
const WAYS = [
  { how: 'was running, and ends', at: 'inside' },
  { how: 'was not yet begun, and begins', at: 'before' },
] as const;

test.each(WAYS)('an insert of a dead writer that $how after another has stored the same is no second copy', async ({ at }) => {
  const slow = await breakableServer();
  const shared = await sharedStore();
  const [dead, other] = [await shared.open({}, slow.url), await shared.open({}, slow.url)];
  const fault = await slow.break({ kind: 'hold', at, matching: INSERT, times: 1 });
  const late = dead.append(canonicalBatch(SIX.slice(0, 4), offsets(4n)));
  await slow.held(fault);
  // The other one has taken the partition over, and cuts the range in another way.
  await other.append(canonicalBatch(SIX.slice(0, 3), offsets(3n)));
  await other.append(canonicalBatch(SIX.slice(3), offsets(6n)));
  expect((await everythingIn(other)).page).toEqual(IDS);
  const before = await other.readFeed({ zones: 'all', after: await other.positions.oldest(), limit: 10 });
  await slow.mend(fault);
  await late;
  const after = await readFeed(other, before.end);
  const first = before.lines.map(({ bytes, start, end }) => JSON.parse(bytes.toString('utf8', start, end)).logId);
  expect([...first, ...after.map(({ logId }) => logId)].sort()).toEqual(IDS);
  for (const merge of [false, true]) {
    if (merge) await shared.merge();
    const { page, total, exported, feed, groups } = await everythingIn(await shared.open());
    expect([page, total, exported, feed.toSorted(), groups]).toEqual([IDS, 6, IDS, IDS, [['', 6]]]);
  }
});

test('the offset of a dead writer that comes late may go back, and what is read again is no second copy', async () => {
  const slow = await breakableServer();
  const shared = await sharedStore();
  const [dead, other] = [await shared.open({}, slow.url), await shared.open()];
  const fault = await slow.break({ kind: 'hold', at: 'before', matching: '^INSERT INTO source_offsets', times: 1 });
  const late = dead.append(canonicalBatch(SIX.slice(0, 3), offsets(3n)));
  await slow.held(fault);
  await other.append(canonicalBatch(SIX, offsets(6n)));
  await slow.mend(fault);
  await late;
  expect(await other.sourceOffset('t', 0)).toBe(3n);
  await other.append(canonicalBatch(SIX.slice(3), offsets(6n)));
  const { page, total, feed } = await everythingIn(other);
  expect([page, total, feed.toSorted()]).toEqual([IDS, 6, IDS]);
  expect(await other.sourceOffset('t', 0)).toBe(6n);
});
