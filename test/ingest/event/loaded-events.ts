import type { EventBatch } from '../../../store/event-store.ts';
import { decodedEvents } from './decoded-fields.ts';
import { unpacked } from './plain-packing.ts';

/** An event as its columns have it, and its log, unpacked and parsed; what it does not have is left out. */
export type LoadedEvent = Readonly<Record<string, unknown>>;

/**
 * The events of a batch. Throws if there are not as many as it says, if the columns are not as they are defined, and if a log is not one
 * line.
 */
export function loadedEvents(batch: EventBatch): LoadedEvent[] {
  const logs = Buffer.concat(batch.logs).toString('utf8').split('\n');
  const events = decodedEvents(batch.fields);
  if (events.length !== batch.eventCount || logs.length !== batch.eventCount + 1 || logs.at(-1) !== '') {
    throw new Error(
      `${events.length} events and ${logs.length - 1} whole logs where the batch has ${batch.eventCount}, then ${logs.at(-1)}`,
    );
  }
  return events.map((event, index) => ({ ...event, log: JSON.parse(unpacked(logs[index] ?? '', event)) }));
}
