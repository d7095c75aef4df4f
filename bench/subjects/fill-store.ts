import { BatchBuilder } from '../../ingest/event/batch-builder.ts';
import type { OpenStore } from '../../store/embedded/open-store.ts';
import { type GeneratorOptions, generateEvents } from '../events/event-generator.ts';

const BATCH_EVENTS = 10_000;

/** What a store has taken in. */
export interface FilledStore {
  readonly segmentBytes: number;
}

/** Fills a store with generated events, as they would come in at `nowMs`, and merges their segments. */
export async function fillStore(store: OpenStore, options: GeneratorOptions, retentionMs: number): Promise<FilledStore> {
  const builder = new BatchBuilder({ now: () => options.nowMs, retentionMs });
  for (const line of generateEvents(options)) {
    builder.addEvent('file', line.subarray(0, -1));
    if (builder.eventCount === BATCH_EVENTS) await store.append(builder.take());
  }
  if (!builder.isEmpty) await store.append(builder.take());
  await store.flushNow();
  await store.compactNow();
  const { segmentBytes } = await store.stats();
  return { segmentBytes };
}
