import { lastHigh, lastLow } from './addresses';
import { writeDecimal } from './decimals';
import { members } from './event-members';
import { IP } from './fields';
import { CLOSE_BRACE, NEWLINE } from './json-bytes';

const HIGH: string = ',"ipHigh":';
const LOW: string = ',"ipLow":';
/** The same as ASCII, 16 bytes each. */
const HIGH_BYTES: usize = asciiOf(HIGH);
const LOW_BYTES: usize = asciiOf(LOW);

function asciiOf(text: string): usize {
  const at = heap.alloc(16);
  for (let index = 0; index < text.length; index++) {
    store<u8>(at + index, <u8>text.charCodeAt(index));
  }
  return at;
}

/** Writes the canonical line of the event that `members` tells of, its newline included. The place behind it. */
export function writeLine(at: usize): usize {
  at = writeBytes(at, members.openAt, members.cutStart);
  at = writeBytes(at, members.cutEnd, members.closeAt);
  if (members.has(IP)) {
    v128.store(at, v128.load(HIGH_BYTES));
    at = writeDecimal(at + HIGH.length, lastHigh());
    v128.store(at, v128.load(LOW_BYTES));
    at = writeDecimal(at + LOW.length, lastLow());
  }
  store<u8>(at, <u8>CLOSE_BRACE);
  store<u8>(at, <u8>NEWLINE, 1);
  return at + 2;
}

function writeBytes(at: usize, start: usize, end: usize): usize {
  memory.copy(at, start, end - start);
  return at + (end - start);
}
