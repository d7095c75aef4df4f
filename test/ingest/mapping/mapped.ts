import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';
import type { EventVerdict } from '../../../ingest/event/event-verdict.ts';
import type { Mapping } from '../../../ingest/mapping/mapping.ts';
import { readMapping } from '../../../ingest/mapping/mapping-file.ts';
import { loadMappings } from '../../../ingest/mapping/named-mappings.ts';
import { type MappedRecord, RecordMapper, type ZoneChoice } from '../../../ingest/mapping/record-mapper.ts';
import { DAY_MS } from '../../../query/durations.ts';

/** The clock of these tests. */
export const NOW = Date.parse('2026-11-28T12:00:00Z');

export const PRESETS = new Map([...loadMappings(null)].map(([name, { mapping }]) => [name, mapping]));

/** Records without a zone by their mapping are of this one. */
export const ZONES: ZoneChoice = { given: null, fallback: 7, opens: () => true };

export function mappingOf(text: string): Mapping {
  return readMapping('own', text, PRESETS);
}

/** What becomes of the records in the bytes. */
export function mapped(mapping: Mapping, bytes: Uint8Array | string, zones: ZoneChoice = ZONES): MappedRecord[] {
  const all: MappedRecord[] = [];
  new RecordMapper(mapping, zones).map(Buffer.from(bytes), (one) => all.push(one));
  return all;
}

/** What the intake says of an event. Nothing of the last ten years is too old. */
export function verdictOf(event: Uint8Array): EventVerdict {
  return new BatchBuilder({ now: () => NOW, retentionMs: 3_650 * DAY_MS }).tryEvent(event);
}

/** An outcome for comparisons: the members of an accepted event but the log, the reason of a letter, or `left out`. */
export function outcomeOf(one: MappedRecord | undefined): Readonly<Record<string, unknown>> | string {
  if (one === undefined) return 'nothing';
  if (one.kind !== 'event') return one.kind === 'leftOut' ? 'left out' : `rejected: ${one.reason}`;
  const verdict = verdictOf(one.event);
  if (verdict.kind === 'rejected') return `rejected: ${verdict.reason}`;
  const { log: _, ...fields } = JSON.parse(one.event.toString()) as Record<string, unknown>;
  return fields;
}

/** The log of an event as it is written; empty for another outcome. */
export function logOf(one: MappedRecord): string {
  if (one.kind !== 'event') return '';
  const text = one.event.toString();
  return text.slice(text.indexOf(',"log":') + ',"log":'.length, -1);
}
