import { endOf, LOGS } from './columns';
import { members, readMembers } from './event-members';
import { LOG_ID } from './fields';
import { packLog } from './pack-log';
import { findStrings } from './strings';
import { appendWithGivenId, appendWithOwnId } from './write-fields';

/** What became of an event. */
export const NOT_TAKEN: i32 = 0;
export const APPENDED: i32 = 1;
export const NEEDS_ID: i32 = 2;

/** Where the log of the last event ends, behind those that were appended. */
let logEnd: usize = 0;

/**
 * Appends the event between `at` and `end` to the columns; what is not taken leaves them alone, and nothing is said about it. So does one that has no id: that has to be given by
 * `appendLastWithId`. The event's time must be from `earliestMs` to `latestMs`, Unix milliseconds. The block behind `end` is written over.
 */
export function appendEvent(at: usize, end: usize, earliestMs: f64, latestMs: f64): i32 {
  if (!findStrings(at, end) || !readMembers(at, end)) {
    return NOT_TAKEN;
  }
  if (members.timestampMs < earliestMs || members.timestampMs > latestMs) {
    return NOT_TAKEN;
  }
  logEnd = packLog(members.logStart, members.logEnd, endOf(LOGS));
  if (logEnd === 0) {
    return NOT_TAKEN;
  }
  if (!members.has(LOG_ID)) {
    return NEEDS_ID;
  }
  appendWithOwnId(logEnd);
  return APPENDED;
}

/** Appends the event of which `appendEvent` has said that it needs an id, with the one of `length` bytes in the place for it. */
export function appendLastWithId(length: usize): void {
  appendWithGivenId(logEnd, length);
}
