import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { BatchBuilder } from '../../ingest/event/batch-builder.ts';
import type { EventBatch, EventStore } from '../../store/event-store.ts';
import { settingsOf } from '../fixtures/temporary-store.ts';
import { openTestStore, type TestStore, type TestStoreOptions } from '../fixtures/test-store.ts';
import type { RawEvent } from '../oracle/raw-event.ts';
import { arbitraryEvent } from './arbitrary-event.ts';

export const RETENTION_MS = 72 * 3_600_000;

/** The clock of every property: the data and the windows are relative to it, so that a seed means the same for ever. */
export const NOW_MS = 1_760_002_345_678;

export function generateRawEvents(seed: number, count: number, nowMs = NOW_MS): RawEvent[] {
  return fc.sample(arbitraryEvent(nowMs), { seed, numRuns: count });
}

/** Events as an intake takes them. All of them are valid, so one that is refused is a defect. */
export function batchOfEvents(events: readonly RawEvent[], nowMs = NOW_MS): EventBatch {
  const builder = new BatchBuilder({ now: () => nowMs, retentionMs: RETENTION_MS });
  for (const event of events) {
    const verdict = builder.addEvent('http', Buffer.from(JSON.stringify(event)));
    if (verdict.kind !== 'accepted') {
      throw new Error(`the intake took a valid event for ${JSON.stringify(verdict)}: ${JSON.stringify(event)}`);
    }
  }
  return builder.take();
}

export async function appendEvents(store: EventStore, events: readonly RawEvent[], nowMs = NOW_MS): Promise<void> {
  await store.append(batchOfEvents(events, nowMs));
}

export function openStoreIn(dataDir: string, options: Partial<TestStoreOptions> = {}): Promise<TestStore> {
  return openTestStore(settingsOf(dataDir, { now: () => NOW_MS, ...options }));
}

/** Runs `work` with a folder of its own that is gone afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'shieldlog-property-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
