import { members, readMembers } from './event-members';
import { input, LONGEST_EVENT, output } from './event-memory';
import { writeLine } from './line';
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

/**
 * The length of the canonical line of the event that lies in the input with `length` bytes, or 0 where it is none that the kernel takes:
 * then nothing is said about it. Its time must be from `earliestMs` to `latestMs`, Unix milliseconds.
 */
export function convert(length: usize, earliestMs: f64, latestMs: f64): usize {
  const end = input + length;
  if (!findStrings(input, end) || !readMembers(input, end)) {
    return 0;
  }
  if (members.timestampMs < earliestMs || members.timestampMs > latestMs) {
    return 0;
  }
  return writeLine(output) - output;
}
