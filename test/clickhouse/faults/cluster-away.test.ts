import { expect, test } from 'vitest';
import type { ClickhouseStore } from '../../../store/clickhouse/clickhouse-store.ts';
import { migrateSchema } from '../../../store/clickhouse/schema.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { event, HOUR, rowsPlan } from '../../store/embedded/stored-events.ts';
import { CLUSTER } from '../cluster/cluster-config.ts';
import { breakableCluster } from '../cluster/nodes.ts';
import { everythingIn, readFeed, sharedStore } from '../shared-store.ts';

/** An event of each shard. */
const ofBoth = (id: string, timestamp = NOW) =>
  canonicalBatch([7, 9].map((shieldZoneId) => event(`${id}-${shieldZoneId}`, timestamp, { shieldZoneId })));

const RECENT = { fromMs: NOW - HOUR, toMs: NOW + 1 };

/** The ids of the events of the feed that are within the retention. */
const feedOf = async (store: ClickhouseStore): Promise<readonly string[]> =>
  (await readFeed(store))
    .map(({ logId }) => logId)
    .filter((id) => !id.startsWith('old'))
    .sort();

test.each([
  ['first', 0],
  ['second', 1],
] as const)('while the %s node is away, all goes on but the feed, and nothing is missing when it is back', async (_, index) => {
  const { nodes, url } = await breakableCluster();
  const both = nodes.map((node) => node.url).join();
  const shared = await sharedStore(nodes[0].url, 'a cluster', url);
  const store = await shared.open({}, both);
  await store.append(ofBoth('old', NOW - 120 * HOUR));
  await store.append(ofBoth('a'));
  expect(await feedOf(store)).toEqual(['a-7', 'a-9']);

  await nodes[index].goAway();
  const started = await shared.open({}, both);
  await started.append(ofBoth('b'));
  await store.append(ofBoth('c'));
  for (const one of [store, started]) expect(await one.search(rowsPlan({ zones: 'all', window: RECENT }))).toMatchObject({ total: 6 });
  expect(await feedOf(store)).toEqual(['a-7', 'a-9']);
  await expect(readFeed(started)).rejects.toMatchObject({ code: 'unavailable' });
  const address = { ...shared.address, urls: both.split(','), database: `${shared.address.database}_new` };
  await expect(migrateSchema(address, { cluster: CLUSTER })).rejects.toMatchObject({ code: 'overloaded' });
  await store.dropExpiredNow();

  await nodes[index].comeBack();
  expect(await migrateSchema(address, { cluster: CLUSTER })).toMatchObject({ from: 0 });
  await shared.run(`DROP DATABASE ${address.database} ON CLUSTER '${CLUSTER}'`);
  for (const one of [store, started]) {
    expect(await feedOf(one)).toEqual(['a-7', 'a-9', 'b-7', 'b-9', 'c-7', 'c-9']);
    expect((await everythingIn(one)).total).toBe(6);
    expect((await readFeed(one)).map(({ logId }) => logId)).toHaveLength(6);
  }
});
