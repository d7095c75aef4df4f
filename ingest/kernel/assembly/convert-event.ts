import { COLUMN_BYTES, endOf, ends, LOGS } from './columns';
import { members, readMembers } from './event-members';
import { givenId, input, LONGEST_EVENT, LONGEST_GIVEN_ID } from './event-memory';
import { LOG_ID } from './fields';
import { packLog } from './pack-log';
import { findStrings } from './strings';
import { appendWithGivenId, appendWithOwnId } from './write-fields';

export function longestEvent(): usize {
  return LONGEST_EVENT;
}

export function longestGivenId(): usize {
  return LONGEST_GIVEN_ID;
}

/** Where the bytes of an event are expected. */
export function inputAt(): usize {
  return input;
}

/** Where the id of an event that has none is expected. */
export function givenIdAt(): usize {
  return givenId;
}

/** How many bytes of events, with the ids that were given for them, there is room for until the columns are emptied. */
export function roomForEvents(): usize {
  return COLUMN_BYTES;
}

/** Where the ends of the columns are, four bytes for each: those of `BATCH_COLUMNS`, then the masks, then the logs. Whoever puts them back to what they were at first empties the columns. */
export function endsAt(): usize {
  return ends;
}

/** Where the last event begins and ends in the input, without the blanks around it. */
export function eventStart(): usize {
  return members.openAt;
}

export function eventEnd(): usize {
  return members.closeAt + 1;
}

/** What `convert` says of an event. */
const NOT_TAKEN: i32 = 0;
const APPENDED: i32 = 1;
const NEEDS_ID: i32 = 2;

/** Where the log of the last event ends, behind those that were appended. */
let logEnd: usize = 0;

/**
 * Appends the event that lies in the input with `length` bytes to the columns; what is not taken leaves them alone, and nothing is said about it. So does one that has no id:
 * that has to be given by `appendWithId`. The event's time must be from `earliestMs` to `latestMs`, Unix milliseconds.
 */
export function convert(length: usize, earliestMs: f64, latestMs: f64): i32 {
  const end = input + length;
  if (!findStrings(input, end) || !readMembers(input, end)) {
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

/** Appends the event of which `convert` has said that it needs an id, with the one of `length` bytes in the place for it. */
export function appendWithId(length: usize): void {
  appendWithGivenId(logEnd, length);
}
