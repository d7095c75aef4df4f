/** By what the time of an event is judged. */
export interface EventRules {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
}

/**
 * The outcome of one event. An accepted one is `isRepaired` where its texts had bytes that are no UTF-8, or halves of surrogate pairs, or
 * its `ip` had a port or blanks around it; `cutTexts` says how many of its fields are stored by the first bytes of their texts, absent
 * where all are stored whole; it has `hasUnknownIp` where its `ip` is a text that no search for addresses finds. An expired one is only
 * counted: it is neither stored nor kept as a dead letter. A rejected one becomes a dead letter: `reason` names the member, its value and
 * what is allowed. `isJson` is false where it is no JSON object. `zoneId` is the zone that the event would have; it is null if none could
 * be read, and then no zone can ever get the event.
 */
export type EventVerdict =
  | { readonly kind: 'accepted'; readonly isRepaired?: true; readonly cutTexts?: number; readonly hasUnknownIp?: boolean }
  | { readonly kind: 'expired' }
  | { readonly kind: 'rejected'; readonly reason: string; readonly zoneId: number | null; readonly isJson?: false };

/** An event without a log of its own that is longer is a dead letter. So is one with a longer log, what is added to the log included. */
export const LARGEST_EVENT_BYTES = 1024 * 1024;
/**
 * The bytes that an event with a log of its own may have beside it. In the native feed an event has its log of its own: where it came
 * without one, the line has the event twice, and an id and names in a kibibyte.
 */
export const LARGEST_REST_BYTES = LARGEST_EVENT_BYTES + 1024;
/** A line that is longer is no event in any case. */
export const LARGEST_LINE_BYTES = LARGEST_EVENT_BYTES + LARGEST_REST_BYTES;

/** An event may be this far ahead of the clock here. */
export const CLOCK_TOLERANCE_MS = 10 * 60_000;

/** The times that an event may have, Unix milliseconds, both included. An earlier event is expired, a later one is rejected. */
export interface AllowedTimes {
  readonly earliestMs: number;
  readonly latestMs: number;
}

export function allowedTimes({ retentionMs }: Pick<EventRules, 'retentionMs'>, nowMs: number): AllowedTimes {
  return { earliestMs: nowMs - retentionMs, latestMs: nowMs + CLOCK_TOLERANCE_MS };
}

/** Milliseconds of the units that senders confuse with them. */
const OTHER_UNITS = [
  ['seconds', 1_000],
  ['microseconds', 1e-3],
  ['nanoseconds', 1e-6],
] as const;

/** The unit in which a number that is no allowed time in Unix milliseconds would be one; null where there is none. */
export function mistakenUnit(value: number, { earliestMs, latestMs }: AllowedTimes): string | null {
  const isAllowed = (timeMs: number): boolean => timeMs >= earliestMs && timeMs <= latestMs;
  return isAllowed(value) ? null : (OTHER_UNITS.find(([, factor]) => isAllowed(value * factor))?.[0] ?? null);
}

/** The reason for which an event of so many bytes is rejected, or a record that may have as many. */
export function tooLong(sizeBytes: number, what: 'event' | 'record' = 'event'): string {
  return `the ${what} has ${sizeBytes} bytes: at most ${LARGEST_EVENT_BYTES} are allowed`;
}

/** The same for one that grew past the limit when its bytes that are no UTF-8 were repaired. */
export function tooLongRepaired(sizeBytes: number, repairedBytes: number): string {
  const grown = `the event has ${sizeBytes} bytes, and ${repairedBytes} with U+FFFD for those that are no UTF-8`;
  return `${grown}: at most ${LARGEST_EVENT_BYTES} are allowed`;
}

/** The same for one with a log of its own. */
export function tooLongLog(logBytes: number): string {
  const added = 'with the members that are no fields, and those that are too long for one';
  return `the log has ${logBytes} bytes, ${added}: at most ${LARGEST_EVENT_BYTES} are allowed`;
}

/** The same for what it has beside its log. */
export function tooLongRest(restBytes: number): string {
  return `the event has ${restBytes} bytes beside its log, with its logId: at most ${LARGEST_REST_BYTES} are allowed`;
}
