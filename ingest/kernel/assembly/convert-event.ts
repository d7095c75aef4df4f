import { members, readMembers } from './event-members';
import { input, LONGEST_EVENT, logOutput, output } from './event-memory';
import { LOG_ID } from './fields';
import { writeLine } from './line';
import { packLog } from './pack-log';
import { findStrings } from './strings';

export function longestEvent(): usize {
  return LONGEST_EVENT;
}

/** Where the bytes of an event are expected. */
export function inputAt(): usize {
  return input;
}

/** Where its line is found. */
export function outputAt(): usize {
  return output;
}

/** Where its packed log is found. */
export function logAt(): usize {
  return logOutput;
}

let logBytes: usize = 0;

/** The length of the packed log of the last event. */
export function logLength(): usize {
  return logBytes;
}

/** Where the last event begins and ends in the input, without the blanks around it. */
export function eventStart(): usize {
  return members.openAt;
}

export function eventEnd(): usize {
  return members.closeAt + 1;
}

/**
 * The length of the canonical line of the event that lies in the input with `length` bytes, or 0 where it is none that the kernel takes:
 * then nothing is said about it. Where the event has no id, the line has none, and its length comes with a minus.
 * The event's time must be from `earliestMs` to `latestMs`, Unix milliseconds.
 */
export function convert(length: usize, earliestMs: f64, latestMs: f64): i32 {
  const end = input + length;
  if (!findStrings(input, end) || !readMembers(input, end)) {
    return 0;
  }
  if (members.timestampMs < earliestMs || members.timestampMs > latestMs) {
    return 0;
  }
  const logEnd = packLog(members.logStart, members.logEnd, logOutput);
  if (logEnd === 0) {
    return 0;
  }
  logBytes = logEnd - logOutput;
  const written: i32 = <i32>(writeLine(output) - output);
  return members.has(LOG_ID) ? written : -written;
}
