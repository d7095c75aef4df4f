import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '../../../../store/embedded/open-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { eventSeries, HOUR, NOW } from '../stored-events.ts';
import { fedEvent } from './whole-feed.ts';

// Appends batches, each with the last events of the one before once more, flushes and merges them, and at the same time reads its own feed
// from the sequence it is started with and tells its parent of every page, until it is killed.
const [, , dataDir = '', behind = '0'] = process.argv;
const store = await openStore({ dataDir, memoryLimitMb: 256, retentionMs: 72 * HOUR, now: () => NOW });

async function write(): Promise<never> {
  for (let batch = Number(store.sourceOffset('writer', 0) ?? 0n); ; batch += 1) {
    const events = eventSeries('e', (batch + 1) * 100, NOW - 20 * HOUR, 60_000).slice(Math.max(0, batch * 100 - 7));
    await store.append(canonicalBatch(events, { sourceOffsets: [{ topic: 'writer', partition: 0, nextOffset: BigInt(batch + 1) }] }));
    if (batch % 3 === 0) void store.flushNow();
    if (batch % 5 === 0) void store.compactNow();
    await delay(5);
  }
}

async function read(): Promise<never> {
  for (let after = BigInt(behind); ; ) {
    const page = await store.readFeed({ zones: 'all', afterSequence: after, limit: 37 });
    after = page.lastSequence;
    process.send?.({ ids: page.lines.map((line) => fedEvent(line).logId), lastSequence: String(after) } satisfies FeederPage);
    if (!page.more) await delay(1);
  }
}

/** What the parent is told. */
export interface FeederPage {
  readonly ids: readonly string[];
  readonly lastSequence: string;
}

await Promise.all([write(), read()]);
