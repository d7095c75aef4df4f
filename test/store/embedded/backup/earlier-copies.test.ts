import { join } from 'node:path';
import { expect, test } from 'vitest';
import { evaluate, KeeperHere, keptIn, rulesOf, ruleText } from '../../../alerts/evaluation/evaluated-feed.ts';
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
  const { rows } = keptIn(backup.databases[0]?.path ?? '').folds[0] ?? { rows: [] };
  const ofGroups = rows.filter(({ group }) => group !== '').map(({ data }) => (data as { readonly count: number }).count);
  // Each event is counted in two windows.
  const counted = ofGroups.reduce((sum, one) => sum + one, 0) / 2;
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThanOrEqual(backup.events);
});
