// The program that serves the feed, in a separate process. It fills a store with generated events, flushes and merges them, and listens
// until its parent disconnects. It is started with its order as JSON in the first argument and sends its address. It answers each message
// with its CPU time and memory.
import { once } from 'node:events';
import { openShieldlog } from '../engines/shieldlog.ts';
import { inEmptyDataDir } from '../events/event-file.ts';

/** The order to the program that serves the feed. */
export interface FeedOrder {
  /** NDJSON. */
  readonly file: string;
  readonly memoryLimitMb: number;
}

/** CPU time and memory of the program so far. */
export interface FeedUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

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
