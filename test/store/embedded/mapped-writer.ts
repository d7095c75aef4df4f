import { openEmbeddedStore } from '../../../store/embedded/open-store.ts';
import { appendRecords, firehoseEnvelope, wafRecord } from '../../fixtures/mapped-batches.ts';
import { HOUR, NOW } from './stored-events.ts';

// Sends batch after batch of 50 records from the first one on, as a sender does that does not know what was stored, half of each in an
// envelope, tells its parent of each, and flushes and merges meanwhile, until it is killed.
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? '', memoryLimitMb: 256, retentionMs: 72 * HOUR, now: () => NOW });
for (let batch = 0; ; batch += 1) {
  const records = Array.from({ length: 50 }, (_, index) => wafRecord(batch * 50 + index));
  await appendRecords(store, 'aws-waf', [...records.slice(0, 25), firehoseEnvelope(records.slice(25))]);
  process.send?.(batch + 1);
  if (batch % 3 === 0) void store.flushNow();
  if (batch % 5 === 0) void store.compactNow();
}
