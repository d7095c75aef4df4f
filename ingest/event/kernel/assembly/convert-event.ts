import { appendEvent } from './append-event';
import { COLUMN_BYTES, ends } from './columns';
import { lines } from './event-lines';
import { members } from './event-members';
import { givenId, input, LONGEST_EVENT, LONGEST_GIVEN_ID } from './event-memory';

export { appendLastWithId as appendWithId } from './append-event';
export { appendedLines as convertedLines, appendLines as convertLines, stoppedAtLine as linesStoppedAt } from './event-lines';

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

/** Where the last event begins and ends, without the blanks around it. */
export function eventStart(): usize {
  return members.openAt;
}

export function eventEnd(): usize {
  return members.closeAt + 1;
}

/** Appends the event that lies in the input with `length` bytes, as `appendEvent` does. */
export function convert(length: usize, earliestMs: f64, latestMs: f64): i32 {
  return appendEvent(input, input + length, earliestMs, latestMs);
}

/** Where the bytes of lines are expected. There is room for as many as for an event. */
export function linesAt(): usize {
  return lines;
}
