import { expect } from 'vitest';
import type { OracleEvent } from '../../oracle/raw-event.ts';
import type { AcceptedEvent } from './day-of-events.ts';
import type { SeenEvent, SeenPart } from './event-readers.ts';

/** So many events of an answer are compared in their contents, and the others by id only. */
const SAMPLE = 20;

/**
 * Fails unless exactly the events that are expected were read, each once and in their order; of a reader that is not through, the first of
 * them.
 */
export function expectEvents({ events, isWhole }: Pick<SeenPart, 'events' | 'isWhole'>, expected: readonly AcceptedEvent[]): void {
  const all = isWhole ? expected : expected.slice(0, events.length);
  const ids = events.map(({ logId }) => logId);
  const different = events.findIndex((event, index) => !isEvent(event, all[index]?.event));
  if (different !== -1 || ids.length !== all.length) {
    throw new Error(difference(ids, all, different === -1 ? ids.length : different));
  }
  for (let index = 0; index < events.length; index += Math.max(1, Math.floor(events.length / SAMPLE))) {
    expectContent(events[index] as SeenEvent, all[index] as AcceptedEvent);
  }
}

/** A format that leaves out the zone has none. */
function isEvent({ logId, zoneId }: SeenEvent, expected: OracleEvent | undefined): boolean {
  return logId === expected?.logId && (zoneId === undefined || zoneId === expected.zoneId);
}

function difference(ids: readonly string[], expected: readonly AcceptedEvent[], at: number): string {
  const seen = new Set(ids);
  const wanted = new Set(expected.map(({ event }) => event.logId));
  const missing = expected.filter(({ event }) => !seen.has(event.logId)).length;
  const foreign = ids.filter((id) => !wanted.has(id)).length;
  const counts = `${ids.length - seen.size} repeated, ${missing} missing, ${foreign} that do not belong there`;
  return `${ids.length} events instead of ${expected.length}: ${counts}; event ${at} is ${ids[at]}, expected ${expected[at]?.event.logId}`;
}

function expectContent(seen: SeenEvent, { sequence, event }: AcceptedEvent): void {
  const whole = { sequence, ...(JSON.parse(JSON.stringify(event)) as OracleEvent) };
  // A format that leaves something out has no such member.
  expect({ ...whole, ...seen }).toEqual(whole);
}
