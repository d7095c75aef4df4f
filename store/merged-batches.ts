import { BATCH_COLUMNS } from '../query/batch-columns.ts';
import { memoryOfLetter } from './dead-letter.ts';
import type { EventBatch } from './event-store.ts';

/** How many of the first batches have no more events and bytes together than these; at least one, where there is one. */
export function fittingBatches(
  waiting: readonly { readonly batch: Pick<EventBatch, 'eventCount'>; readonly bytes: number }[],
  maxEvents: number,
  maxBytes: number,
): number {
  let [events, bytes] = [0, 0];
  const over = waiting.findIndex((one, index) => {
    events += one.batch.eventCount;
    bytes += one.bytes;
    return index > 0 && (events > maxEvents || bytes > maxBytes);
  });
  return over === -1 ? waiting.length : over;
}

/** Joins batches in their order. The last source offset of a partition counts. */
export function mergeBatches(batches: readonly EventBatch[]): EventBatch {
  const sourceOffsets = batches.flatMap((batch) => batch.sourceOffsets);
  return {
    fields: {
      values: BATCH_COLUMNS.map((_, index) => batches.flatMap(({ fields }) => fields.values[index] ?? [])),
      masks: batches.flatMap(({ fields }) => fields.masks),
    },
    logs: batches.flatMap(({ logs }) => logs),
    eventCount: batches.reduce((sum, { eventCount }) => sum + eventCount, 0),
    sourceOffsets: [...new Map(sourceOffsets.map((offset) => [`${offset.partition} ${offset.topic}`, offset])).values()],
    deadLetters: batches.flatMap(({ deadLetters }) => deadLetters),
    expiredCount: batches.reduce((sum, { expiredCount }) => sum + expiredCount, 0),
  };
}

/** The memory of a batch, its dead letters included. */
export function bytesOfBatch({ fields, logs, deadLetters }: EventBatch): number {
  const eventBytes = [...fields.values.flat(), ...fields.masks, ...logs].reduce((sum, chunk) => sum + chunk.byteLength, 0);
  return deadLetters.reduce((sum, letter) => sum + memoryOfLetter(letter), eventBytes);
}
