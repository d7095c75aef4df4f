import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { access } from '../../../src/auth/access.ts';
import { createMetrics } from '../../../src/http/metric-registry.ts';
import { STORE_PROBLEMS } from '../../../src/http/problem.ts';
import { feedRoutes } from '../../../src/routes/feed.ts';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import { type CanonicalEvent, canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import type { TestStore } from '../../fixtures/test-store.ts';
import { seededBytes } from '../../random/run-seed.ts';
import { event, HOUR, NOW } from '../../store/embedded/stored-events.ts';
import { type Answer, ask } from '../running-app.ts';

/** The routes of the feed over a store, on a free port. */
async function servedFeed(store: TestStore): Promise<string> {
  const app = fastify();
  onTestFinished(() => app.close());
  await app.register(access, { keys: [], publicUrl: null });
  await app.register(feedRoutes, {
    store,
    reads: { of: () => store },
    turns: new MainThreadTurns(),
    metrics: createMetrics({ store, kafka: null }),
    queryDeadlineMs: 600_000,
  });
  return await app.listen({ host: '127.0.0.1', port: 0 });
}

interface LastLine {
  readonly cursor: string;
  readonly more: boolean;
  readonly count: number;
}

/** The ids of an answer and its last line. */
function readAnswer({ status, text }: Answer): { readonly ids: readonly string[]; readonly last: LastLine } {
  expect(status, text.slice(0, 500)).toBe(200);
  const lines = text.trimEnd().split('\n');
  const last: LastLine = JSON.parse(lines.pop() ?? '');
  expect(last.count).toBe(lines.length);
  return { ids: lines.map((line) => /^\{"logId":"([^"]+)"/.exec(line)?.[1] ?? line), last };
}

/** The ids of all events of the zones, answer by answer. */
async function readWhole(url: string, zones: string, limit: number): Promise<string[]> {
  const all: string[] = [];
  for (let [cursor, more] = ['', true]; more; ) {
    const { ids, last } = readAnswer(await ask({ url }, `/shield/event-logs/${zones}/feed?limit=${limit}${cursor}`));
    all.push(...ids);
    ({ more } = last);
    cursor = `&cursor=${last.cursor}`;
  }
  return all;
}

/** Text that compresses as badly as real logs. */
const noise = (length: number): string => seededBytes(Math.ceil(length * 0.75)).toString('base64url');

function spread(count: number, logBytes: (index: number) => number): CanonicalEvent[] {
  return Array.from({ length: count }, (_, index) =>
    event(`e${index}`, NOW - 60 * HOUR + ((index * 7_919) % 100_003) * 2_000, {
      shieldZoneId: (index * 31) % 9,
      log: { body: noise(logBytes(index)) },
    }),
  );
}

async function storeWith(events: readonly CanonicalEvent[], memoryLimitMb: number): Promise<TestStore> {
  const store = await storeIn(temporaryFolder(), { memoryLimitMb });
  for (let from = 0; from < events.length; from += 10_000) await store.append(canonicalBatch(events.slice(from, from + 10_000)));
  await store.settle('flush');
  return store;
}

const idsOf = (events: readonly CanonicalEvent[], zones: string): string[] =>
  events.filter(({ shieldZoneId }) => zones === 'all' || zones.split(',').includes(String(shieldZoneId))).map(({ logId }) => logId);

test.each([
  ['many small events', 40_000, () => 1_000],
  ['some large logs among small ones', 2_000, (index: number) => (index % 10 === 3 ? 100_000 : 200)],
])(
  '%s: as many readers as there are lists of zones are answered at once, with the least memory that is allowed',
  async (_, count, logBytes) => {
    const events = spread(count, logBytes);
    const url = await servedFeed(await storeWith(events, 256));
    const lists = ['all', '1,2,7', '0,8', '3', '1,2,3,4,5,6'];
    const read = await Promise.all(lists.map((zones) => readWhole(url, zones, 20_000)));
    for (const [index, zones] of lists.entries()) expect(read[index]?.join() === idsOf(events, zones).join(), zones).toBe(true);
  },
);

test('what there is no memory for is refused before the first byte, and ends an answer early behind a whole event', async () => {
  const dataDir = temporaryFolder();
  const small = spread(2_000, () => 100);
  // DuckDB takes the texts of some thousand events at a time.
  const wide = Array.from({ length: 2_000 }, (_, index) =>
    event(`w${index}`, NOW - index, { shieldZoneId: 1, url: `https://x/${noise(60_000)}` }),
  );
  const filled = await storeIn(dataDir);
  for (const events of [small, wide.slice(0, 1_000), wide.slice(1_000)]) {
    await filled.append(canonicalBatch(events));
    if (events === small) await filled.settle('flush');
  }
  await filled.settle('flush');
  await filled.close();
  const tight = await storeIn(dataDir, { memoryLimitMb: 32 });
  const url = await servedFeed(tight);
  let { ids, last } = readAnswer(await ask({ url }, '/shield/event-logs/all/feed?limit=100000'));
  expect(ids.length).toBeGreaterThanOrEqual(small.length);
  let refused = await ask({ url }, `/shield/event-logs/all/feed?cursor=${last.cursor}`);
  // DuckDB may have had the memory for some of the long events, by how its threads came to it.
  while (refused.status === 200) {
    const more = readAnswer(refused);
    ids = [...ids, ...more.ids];
    ({ last } = more);
    refused = await ask({ url }, `/shield/event-logs/all/feed?cursor=${last.cursor}`);
  }
  expect(ids).toEqual([...small, ...wide].slice(0, ids.length).map(({ logId }) => logId));
  expect(last.more).toBe(true);
  expect([refused.status, refused.headers.get('retry-after')], refused.text).toEqual([503, '1']);
  expect(refused.body.message).toBe(STORE_PROBLEMS.overloaded.detail);
  // Others are answered.
  expect(await readWhole(url, '3', 100_000)).toEqual(idsOf(small, '3'));
  await tight.close();
  const roomy = await servedFeed(await storeIn(dataDir, { memoryLimitMb: 1_024 }));
  const rest = readAnswer(await ask({ url: roomy }, `/shield/event-logs/all/feed?limit=100&cursor=${last.cursor}`));
  const first = ids.length - small.length;
  expect(rest.ids).toEqual(wide.slice(first, first + 100).map(({ logId }) => logId));
});
