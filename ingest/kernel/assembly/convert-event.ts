import { members, readMembers } from './event-members';
import { writeLine } from './line';

/** A longer event is left to the slower path. */
const LONGEST_EVENT: usize = 256 * 1024;
/** Steps of 16 bytes look past the end, and a line has more than its event by the two halves of an address. */
const SLACK: usize = 256;

const input: usize = heap.alloc(LONGEST_EVENT + SLACK);
const output: usize = heap.alloc(LONGEST_EVENT + SLACK);

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
  // Valid nowhere in JSON: no step has to look at where the event ends.
  store<u8>(end, 0);
  if (!readMembers(input, end) || members.timestampMs < earliestMs || members.timestampMs > latestMs) {
    return 0;
  }
  return writeLine(output) - output;
}
