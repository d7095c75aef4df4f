import { expect, onTestFinished, test } from 'vitest';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { openClickhouseStore } from '../../store/clickhouse/open-store.ts';
import { exportedRows } from '../fixtures/answered-rows.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { eventually } from '../fixtures/eventually.ts';
import { NOW } from '../fixtures/present.ts';
import { RETENTION_MS } from '../fixtures/temporary-store.ts';
import { runSeed } from '../random/run-seed.ts';
import { event, HOUR, rowsPlan } from '../store/embedded/stored-events.ts';
import { serverFolder } from './engine.ts';
import { startServer } from './server/server-process.ts';
import { readFeed } from './shared-store.ts';

const KILLS = 5;
const WRITERS = 2;
const PER_BATCH = 100;
/** A kill comes when so many further batches are acknowledged: any number below this. */
const BATCHES_BETWEEN = 8;

test(`${KILLS} kills -9 of the server in the middle of inserts lose nothing that is acknowledged`, async () => {
  const random = new SeededRandom(runSeed());
  const folder = serverFolder();
  let server = await startServer(folder);
  onTestFinished(() => server.stop());
  const address = { urls: [server.url], user: 'default', password: '', database: 'shieldlog' };
  const store = await openClickhouseStore({ address, retentionMs: RETENTION_MS, now: () => NOW }, { insertEveryMs: 0 });
  onTestFinished(() => store.close());

  let [batches, acknowledged, failures, isOver] = [0, 0, 0, false];
  const ids: string[] = [];
  const nextOffsets = Array.from({ length: WRITERS }, () => 0n);
  const write = async (partition: number): Promise<void> => {
    for (let offset = 0n; !isOver; offset++) {
      const number = batches++;
      const events = Array.from({ length: PER_BATCH }, (_, index) => event(`${number}-${index}`, NOW - random.below(60 * HOUR)));
      const origin = { source: 'kafka', topic: 't', partition, zoneId: null, cut: null, reason: 'no JSON' };
      const deadLetters = [{ ...origin, bytes: Buffer.from(`{ ${number}`), offset }];
      const sourceOffsets = [{ topic: 't', partition, nextOffset: offset + 1n }];
      const batch = canonicalBatch(events, { deadLetters, sourceOffsets });
      await eventually(`batch ${number} to be stored`, () =>
        store.append(batch).then(
          () => true,
          () => {
            failures += 1;
            return false;
          },
        ),
      );
      ids.push(...events.map(({ logId }) => logId));
      nextOffsets[partition] = offset + 1n;
      acknowledged += 1;
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, partition) => write(partition)));
  for (let kill = 0; kill < KILLS; kill++) {
    const until = acknowledged + random.below(BATCHES_BETWEEN);
    await eventually(`${until} batches to be stored`, () => acknowledged >= until);
    await server.kill();
    server = await startServer(folder, { port: Number(new URL(server.url).port) });
  }
  isOver = true;
  await writing;

  expect(failures).toBeGreaterThan(0);
  ids.sort();
  const plan = rowsPlan({ zones: 'all' });
  expect((await store.search(plan)).total).toBe(ids.length);
  expect((await exportedRows(store, plan)).map(({ logId }) => logId).sort()).toEqual(ids);
  expect((await readFeed(store, undefined, 1_000)).map(({ logId }) => logId).sort()).toEqual(ids);
  const letters = await store.listDeadLetters({ zones: 'all', limit: 10_000 });
  for (const [partition, nextOffset] of nextOffsets.entries()) {
    expect(await store.sourceOffset('t', partition)).toBe(nextOffset);
    const offsets = letters.filter((letter) => letter.partition === partition).map(({ offset }) => offset);
    expect(offsets).toEqual(Array.from({ length: Number(nextOffset) }, (_, offset) => BigInt(offset)));
  }
});
