import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../store/open-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { RETENTION_MS, temporaryFolder } from '../fixtures/temporary-store.ts';
import { event, NOW } from './embedded/stored-events.ts';

test('an embedded store is opened in its folder, and is there again when it is opened again', async () => {
  const dataDir = temporaryFolder();
  const open = async () => {
    const store = await openStore({ kind: 'embedded', dataDir, memoryLimitMb: 256, retentionMs: RETENTION_MS, now: () => NOW });
    onTestFinished(() => store.close());
    return store;
  };
  const store = await open();
  await store.append(canonicalBatch([event('a', NOW)]));
  await store.close();
  expect(existsSync(join(dataDir, 'catalog.sqlite'))).toBe(true);
  expect(await (await open()).stats()).toMatchObject({ events: 1, storedEvents: 1 });
});
