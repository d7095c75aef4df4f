// The program that serves the feed, in a process of its own: fills a store with generated events, flushes and merges them, and listens
// until its parent lets go. Started with what to do as JSON in the first argument; sends its address, and after that its CPU time and
// memory whenever it is asked.
import { once } from 'node:events';
import { openShieldlog } from '../engines/shieldlog.ts';
import { inEmptyDataDir } from '../events/data-dir.ts';
import type { FeedOrder, FeedUsage } from './feed-subject-report.ts';

const order = JSON.parse(process.argv[2] ?? '{}') as FeedOrder;

await inEmptyDataDir('feed', async (dataDir) => {
  const engine = await openShieldlog({ dataDir, memoryLimitMb: order.memoryLimitMb });
  await engine.ingest({ file: order.file, eventsPerSecond: null });
  await engine.settle();
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1_000, rssBytes: process.memoryUsage.rss() } satisfies FeedUsage);
  });
  process.send?.(await engine.listen());
  await once(process, 'disconnect');
  await engine.close();
});
