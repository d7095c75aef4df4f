import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BatchBuilder } from '../../ingest/event/batch-builder.ts';
import type { EventBatch } from '../../store/event-store.ts';
import { GOLDEN_NOW } from './golden-case.ts';

export const GOLDEN_RETENTION_MS = 72 * 3_600_000;

/** The lines of events.ndjson, wire events as a file would bring them. */
export function goldenLines(): readonly string[] {
  return readFileSync(join(import.meta.dirname, 'events.ndjson'), 'utf8')
    .trimEnd()
    .split('\n');
}

/** Wire events as one batch for the store; throws where the intake does not take one. */
export function batchOf(lines: readonly string[]): EventBatch {
  const builder = new BatchBuilder({ now: () => GOLDEN_NOW, retentionMs: GOLDEN_RETENTION_MS });
  for (const line of lines) {
    const verdict = builder.addEvent('file', Buffer.from(line));
    if (verdict.kind !== 'accepted') {
      throw new Error(`${JSON.stringify(verdict)}: ${line}`);
    }
  }
  return builder.take();
}
