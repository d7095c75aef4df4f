import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '../../store/open-store.ts';
import { canonicalBatch } from '../fixtures/canonical-batch.ts';
import { eventSeries, HOUR, NOW } from './stored-events.ts';

// Appends batch after batch of 100 events, tells its parent of each, flushes every third and merges every fifth, until it is killed.
const store = await openStore({ dataDir: process.argv[2] ?? '', memoryLimitMb: 256, retentionMs: 72 * HOUR, now: () => NOW });
for (let batch = Number(store.sourceOffset('writer', 0) ?? 0n); ; batch += 1) {
  const events = eventSeries('e', (batch + 1) * 100, NOW - 20 * HOUR, 60_000).slice(batch * 100);
  await store.append(canonicalBatch(events, { sourceOffsets: [{ topic: 'writer', partition: 0, nextOffset: BigInt(batch + 1) }] }));
  process.send?.(batch + 1);
  if (batch % 3 === 0) {
    void store.flushNow();
  }
  if (batch % 5 === 0) {
    void store.compactNow();
  }
  await delay(5);
}
