import { setTimeout as delay } from 'node:timers/promises';
import { openEmbeddedStore } from '../../../../store/embedded/open-store.ts';
import { CursorAhead } from '../../../../store/event-store.ts';
import { canonicalBatch } from '../../../fixtures/canonical-batch.ts';
import { eventSeries, HOUR, NOW } from '../stored-events.ts';
import { fedEvent } from './whole-feed.ts';

// Appends batches, each of which repeats the last events of the one before, and flushes and merges them. At the same time it reads its own
// feed from the cursor in its arguments, and tells its parent of every page, until it is killed.
const [, , dataDir = '', cursor = ''] = process.argv;
const store = await openEmbeddedStore({ dataDir, memoryLimitMb: 256, retentionMs: 72 * HOUR, now: () => NOW });

async function write(): Promise<never> {
  for (let batch = Number((await store.sourceOffset('writer', 0)) ?? 0n); ; batch += 1) {
    const events = eventSeries('e', (batch + 1) * 100, NOW - 20 * HOUR, 60_000).slice(Math.max(0, batch * 100 - 7));
    await store.append(canonicalBatch(events, { sourceOffsets: [{ topic: 'writer', partition: 0, nextOffset: BigInt(batch + 1) }] }));
    if (batch % 3 === 0) void store.flushNow();
    if (batch % 5 === 0) void store.compactNow();
    await delay(5);
  }
}

async function read(): Promise<never> {
  const { positions } = store;
  const start = cursor === '' ? await positions.oldest() : await positions.decode(cursor);
  if (typeof start === 'string' || start instanceof CursorAhead) throw new Error(`the cursor is refused: ${JSON.stringify(start)}`);
  for (let after = start; ; ) {
    const page = await store.readFeed({ zones: 'all', after, limit: 37 });
    after = page.end;
    process.send?.({ ids: page.lines.map((line) => fedEvent(line).logId), cursor: positions.encode(after) } satisfies FeederPage);
    if (!page.more) await delay(1);
  }
}

/** The message to the parent. */
export interface FeederPage {
  readonly ids: readonly string[];
  readonly cursor: string;
}

await Promise.all([write(), read()]);
