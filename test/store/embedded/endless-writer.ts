import { setTimeout as delay } from 'node:timers/promises';
import type { DeadLetter } from '../../../store/dead-letter.ts';
import { openEmbeddedStore } from '../../../store/embedded/open-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { eventSeries, HOUR, NOW } from './stored-events.ts';

/** One that comes with the batch. */
const letter = (batch: number): DeadLetter => ({
  bytes: Buffer.from(`letter ${batch}`),
  cut: null,
  reason: 'no event',
  source: 'kafka',
  topic: 'writer',
  partition: 0,
  offset: BigInt(batch),
  zoneId: null,
});

// Appends batch after batch of 100 events and a dead letter, tells its parent of each, flushes every third and merges every fifth, until it
// is killed.
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? '', memoryLimitMb: 256, retentionMs: 72 * HOUR, now: () => NOW });
for (let batch = Number((await store.sourceOffset('writer', 0)) ?? 0n); ; batch += 1) {
  const events = eventSeries('e', (batch + 1) * 100, NOW - 20 * HOUR, 60_000).slice(batch * 100);
  await store.append(
    canonicalBatch(events, {
      sourceOffsets: [{ topic: 'writer', partition: 0, nextOffset: BigInt(batch + 1) }],
      deadLetters: [letter(batch)],
    }),
  );
  process.send?.(batch + 1);
  if (batch % 3 === 0) {
    void store.flushNow();
  }
  if (batch % 5 === 0) {
    void store.compactNow();
  }
  await delay(5);
}
