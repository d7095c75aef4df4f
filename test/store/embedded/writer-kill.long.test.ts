import { expect, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from './embedded-store-in.ts';
import { storedIds } from './stored-events.ts';
import { killedWhile } from './writer-process.ts';

test('a process killed while it appends, flushes and merges loses nothing that it acknowledged, and stores nothing twice', async () => {
  const dataDir = temporaryFolder();
  let acknowledged = 0;
  for (const afterBatches of [3, 1, 8, 5, 12]) {
    acknowledged = await killedWhile(dataDir, acknowledged + afterBatches);
    const store = await embeddedStoreIn(dataDir);
    const sourceOffset = Number(await store.sourceOffset('writer', 0));
    expect(sourceOffset).toBeGreaterThanOrEqual(acknowledged);
    const ids = await storedIds(store);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids)).toEqual(new Set(Array.from({ length: sourceOffset * 100 }, (__, index) => `e${index}`)));
    const letters = await store.listDeadLetters({ zones: 'all', limit: 10_000 });
    const texts = letters.map(({ bytes }) => Buffer.from(bytes).toString());
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts.slice(0, sourceOffset)).toEqual(Array.from({ length: sourceOffset }, (__, batch) => `letter ${batch}`));
    await store.close();
  }
});

test('records of another product that are sent anew after each kill are there once', async () => {
  const dataDir = temporaryFolder();
  let most = 0;
  for (const untilBatch of [4, 2, 9, 6]) {
    most = Math.max(most, await killedWhile(dataDir, untilBatch, 'mapped'));
    const store = await embeddedStoreIn(dataDir);
    const ids = await storedIds(store);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(most * 50);
    expect(new Set(ids)).toEqual(new Set(Array.from({ length: ids.length }, (__, index) => `request-${index}`)));
    await store.close();
  }
});
