import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { evaluate, KeeperHere, rulesOf, ruleText } from '../../../alerts/evaluation/evaluated-feed.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { NOW } from '../../../fixtures/present.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';

test('a backup has the state of alerts of a moment before that of its events, however much comes in and is counted meanwhile', async () => {
  const dataDir = temporaryFolder();
  const store = await embeddedStoreIn(dataDir);
  const file = join(dataDir, 'alerts.sqlite');
  const keeper = new KeeperHere({ file, rules: rulesOf(ruleText()) });
  let sent = 0;
  const append = async () => {
    sent += 1;
    await store.append(canonicalBatch([{ logId: `event-${sent}`, shieldZoneId: 7, timestamp: NOW, log: {} }]));
    await evaluate({ keeper, store });
  };
  await append();
  let isOver = false;
  const intake = (async () => {
    while (!isOver) await append();
  })();
  await using backup = await store.beginBackup([file, join(dataDir, 'not-there.sqlite')]);
  isOver = true;
  await intake;
  expect(backup.databases.map(({ name }) => name)).toEqual(['alerts.sqlite', 'catalog.sqlite']);
  using copy = new DatabaseSync(backup.databases[0]?.path ?? '', { readOnly: true });
  const counted = Number(copy.prepare("SELECT sum(data ->> 'count') AS count FROM fold_rows").get()?.['count']) / 2;
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThanOrEqual(backup.events);
});
