import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileExplore } from '../../query/request/compile-explore.ts';
import { exploreEvents } from '../../store/clickhouse/search/explore.ts';
import { type OpenStore, openEmbeddedStore } from '../../store/embedded/open-store.ts';
import { explored } from '../fixtures/answered-rows.ts';
import { GOLDEN_NOW } from '../golden/golden-case.ts';
import { batchOf, GOLDEN_RETENTION_MS, goldenLines } from '../golden/golden-events.ts';
import { EventTable } from './event-table.ts';
import { LARGEST_REQUESTS } from './largest-requests.ts';

const folder = mkdtempSync(join(tmpdir(), 'shieldlog-clickhouse-'));
let table: EventTable;
let store: OpenStore;

beforeAll(async () => {
  const batch = batchOf(goldenLines());
  table = await EventTable.open();
  await table.insert(batch);
  store = await openEmbeddedStore({
    dataDir: join(folder, 'data'),
    memoryLimitMb: 2048,
    retentionMs: GOLDEN_RETENTION_MS,
    now: () => GOLDEN_NOW,
  });
  await store.append(batch);
});

afterAll(async () => {
  await table.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each(LARGEST_REQUESTS)('the largest request is answered as by the embedded store: $name', async ({ zones, body }) => {
  const plan = compileExplore(Buffer.from(JSON.stringify(body)), { zones, nowMs: GOLDEN_NOW });
  const answer = await explored(await exploreEvents(plan, table.source, undefined));
  expect(answer).toEqual(await explored(await store.explore(plan)));
});
