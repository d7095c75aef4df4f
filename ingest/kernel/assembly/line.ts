import { lastHigh, lastLow } from './addresses';
import { writeDecimal } from './decimals';
import { members } from './event-members';
import { IP } from './fields';
import { CLOSE_BRACE, NEWLINE } from './json-bytes';

/** Writes the canonical line of the event that `members` tells of, its newline included. The place behind it. */
export function writeLine(at: usize): usize {
  at = writeBytes(at, members.openAt, members.cutStart);
  at = writeBytes(at, members.cutEnd, members.closeAt);
  if (members.has(IP)) {
    at = writeDecimal(writeText(at, ',"ipHigh":'), lastHigh());
    at = writeDecimal(writeText(at, ',"ipLow":'), lastLow());
  }
  at = writeText(at, ',"log":');
  at = writeBytes(at, members.logStart, members.logEnd);
  store<u8>(at, <u8>CLOSE_BRACE);
  store<u8>(at, <u8>NEWLINE, 1);
  return at + 2;
}

function writeBytes(at: usize, start: usize, end: usize): usize {
  memory.copy(at, start, end - start);
  return at + (end - start);
}

/** ASCII only. */
function writeText(at: usize, text: string): usize {
  for (let index = 0; index < text.length; index++) {
    store<u8>(at + index, <u8>text.charCodeAt(index));
  }
  return at + text.length;
}
