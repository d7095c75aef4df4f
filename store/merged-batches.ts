import { BATCH_COLUMNS } from '../query/batch-columns.ts';
import { type EventBatch, memoryOfLetter } from './event-store.ts';

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
