import { expect, test } from 'vitest';
import { MINUTE_OF_SEQUENCES } from '../../sql/clickhouse/schema.ts';
import type { ClickhouseStore } from '../../store/clickhouse/clickhouse-store.ts';
import type { FeedPosition } from '../../store/event-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { NOW } from '../fixtures/present.ts';
import { event } from '../store/embedded/stored-events.ts';
import { PLACES, sharedStore } from './shared-store.ts';

const BLOCKED = { kind: 'equals', column: 'action', values: ['blocked'], folded: true } as const;

/** The ids of each page of the feed for a condition, from a position on. */
async function pagesOf(store: ClickhouseStore, after: FeedPosition, limit = 100): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  for (let [position, more] = [after, true]; more; ) {
    const page = await store.readFeed({ zones: 'all', where: BLOCKED, after: position, limit });
    pages.push(page.lines.map(({ bytes, start, end }) => JSON.parse(bytes.toString('utf8', start, end)).logId));
    position = page.end;
    more = page.more;
  }
  return pages;
}

test.each(PLACES)('a later copy that matches does not stand for a first one that does not, on %s', async (place) => {
  const shared = await sharedStore(undefined, place);
  const store = await shared.open();
  const first = ['a', 'b', 'c', 'd'].map((id, zone) =>
    event(id, NOW, { shieldZoneId: 7 + zone, action: zone % 2 === 0 ? 'logged' : 'blocked' }),
  );
  await store.append(canonicalBatch(first));
  const middle = (await store.readFeed({ zones: 'all', after: await store.positions.oldest(), limit: 9 })).end;
  // A later copy has what the first one lacks, and lacks what that one has.
  const copies = first.map((one) => ({ ...one, action: one.action === 'logged' ? 'blocked' : 'logged' }));
  await store.append(canonicalBatch([...copies, event('e', NOW, { action: 'blocked' })]));
  expect((await pagesOf(store, await store.positions.oldest())).flat()).toEqual(['b', 'd', 'e']);
  expect((await pagesOf(store, middle)).flat()).toEqual(['e']);
});

test('minutes with few events are looked at together', async () => {
  const shared = await sharedStore();
  const store = await shared.open();
  await store.append(canonicalBatch([event('first', NOW, { action: 'blocked' }), event('other', NOW)]));
  // The same two events of other zones in each of the last three days' minutes.
  const zone = 'shieldZoneId + 1000 + toInt32(number) AS shieldZoneId';
  const sequence = `seq - (number + 1) * ${MINUTE_OF_SEQUENCES} AS seq`;
  const earlier = `SELECT * EXCEPT number REPLACE (${zone}, ${sequence}) FROM events_local, (SELECT number FROM numbers(4000)) AS minutes`;
  await shared.run(`INSERT INTO events_local ${earlier}`);
  const pages = await pagesOf(store, await store.positions.oldest(), 100_000);
  expect(pages.flat().length).toBe(4_001);
  expect(pages.length).toBe(1);
});
