import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { FeedPosition } from '../../../../store/event-store.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';
import type { FeederPage } from './endless-feeder.ts';
import { wholeFeed } from './whole-feed.ts';

interface Reader {
  readonly ids: string[];
  cursor: string;
}

/** Runs a program that writes, flushes, merges and reads at the same time, and kills it once the reader has `untilEvents` events. */
async function readUntilKilled(dataDir: string, reader: Reader, untilEvents: number): Promise<void> {
  const script = fileURLToPath(new URL('./endless-feeder.ts', import.meta.url));
  const feeder = fork(script, [dataDir, reader.cursor], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
  onTestFinished(() => {
    feeder.kill('SIGKILL');
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isEnough = false;
  feeder.on('message', (message) => {
    const { ids, cursor } = message as FeederPage;
    reader.ids.push(...ids);
    reader.cursor = cursor;
    if (reader.ids.length >= untilEvents) {
      isEnough = true;
      feeder.kill('SIGKILL');
    }
  });
  feeder.once('exit', (code) => (isEnough ? resolve() : reject(new Error(`the program ended by itself with ${code}`))));
  await promise;
}

test('a reader sees every event exactly once, in order, while events come in and are merged, and the program is killed', async () => {
  const dataDir = temporaryFolder();
  const reader: Reader = { ids: [], cursor: '' };
  for (const events of [150, 900, 1_000, 1_700, 3_100]) {
    await readUntilKilled(dataDir, reader, events);
  }
  const store = await embeddedStoreIn(dataDir);
  const after = (await store.positions.decode(reader.cursor)) as FeedPosition;
  const rest = await wholeFeed(store, { after, limit: 1_000 });
  const ids = [...reader.ids, ...rest.map(({ logId }) => logId)];
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => `e${index}`));
  expect(ids).toHaveLength(Number(await store.sourceOffset('writer', 0)) * 100);
});
