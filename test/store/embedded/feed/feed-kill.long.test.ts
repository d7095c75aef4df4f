import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { storeIn, temporaryFolder } from '../../../fixtures/temporary-store.ts';
import type { FeederPage } from './endless-feeder.ts';
import { wholeFeed } from './whole-feed.ts';

interface Reader {
  readonly ids: string[];
  lastSequence: string;
}

/** Lets a program write, flush, merge and read at the same time, and kills it once the reader has so many events. */
async function readUntilKilled(dataDir: string, reader: Reader, untilEvents: number): Promise<void> {
  const script = fileURLToPath(new URL('./endless-feeder.ts', import.meta.url));
  const feeder = fork(script, [dataDir, reader.lastSequence], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] });
  onTestFinished(() => {
    feeder.kill('SIGKILL');
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isEnough = false;
  feeder.on('message', (message) => {
    const { ids, lastSequence } = message as FeederPage;
    reader.ids.push(...ids);
    reader.lastSequence = lastSequence;
    if (reader.ids.length >= untilEvents) {
      isEnough = true;
      feeder.kill('SIGKILL');
    }
  });
  feeder.once('exit', (code) => (isEnough ? resolve() : reject(new Error(`the program ended by itself with ${code}`))));
  await promise;
}

test('a reader sees every event exactly once, in order, while events come in, are flushed and merged, and the program is killed', async () => {
  const dataDir = temporaryFolder();
  const reader: Reader = { ids: [], lastSequence: '0' };
  for (const events of [150, 900, 1_000, 1_700, 3_100]) {
    await readUntilKilled(dataDir, reader, events);
  }
  const store = await storeIn(dataDir);
  const rest = await wholeFeed(store, { afterSequence: BigInt(reader.lastSequence), limit: 1_000 });
  const ids = [...reader.ids, ...rest.map(({ logId }) => logId)];
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => `e${index}`));
  expect(ids).toHaveLength(Number(store.sourceOffset('writer', 0)) * 100);
});
