import { lastHigh, lastLow } from './addresses';
import {
  append32,
  append64,
  endOf,
  ID_TEXT,
  IP,
  IP_HIGH,
  IP_LOW,
  LOGS,
  MASKS,
  setEnd,
  TIMESTAMP,
  UNFOLDED_BIT,
  URL_HEAD,
  URL_TAIL,
  ZONE_ID,
} from './columns';
import { members } from './event-members';
import { givenId } from './event-memory';
import { FIELDS_WITH_COLUMN, LOG_ID, TEXTS } from './fields';
import { appendId } from './ids';
import { sixteen } from './sixteen';
import { copyText } from './texts';

const QUESTION_MARKS: usize = sixteen(0x3f);
const LARGE_AS: usize = sixteen(0x41);
const LETTERS: usize = sixteen(25);
const ZEROS: usize = sixteen(0);

/** Appends the id of the event that `members` tells of, and its other fields as `appendFields` does. */
export function appendWithOwnId(logEnd: usize): void {
  const start = endOf(ID_TEXT) + 4;
  appendFields(logEnd, appendId(start, copyText(start, members.valueStart(LOG_ID), members.valueEnd(LOG_ID))));
}

/** The same with an id of `length` bytes that was given for it. */
export function appendWithGivenId(logEnd: usize, length: usize): void {
  const start = endOf(ID_TEXT) + 4;
  memory.copy(start, givenId, length);
  appendFields(logEnd, appendId(start, start + length));
}

/** Appends the fields of the event that `members` tells of to the columns. Its log was written behind the others, up to `logEnd`; `idBits` say in which columns its id is. */
function appendFields(logEnd: usize, idBits: u32): void {
  append32(ZONE_ID, members.zoneId);
  append64(TIMESTAMP, <u64>members.timestampMs);
  for (let texts = members.seen & TEXTS; texts !== 0; texts &= texts - 1) {
    appendText(ctz(texts));
  }
  let mask = (members.seen & FIELDS_WITH_COLUMN) | idBits;
  if (members.has(IP)) {
    append64(IP_HIGH, lastHigh());
    append64(IP_LOW, lastLow());
    const isUnfolded = isChangedByLowerCase(members.valueStart(IP), members.valueEnd(IP));
    mask |= (1 << IP_HIGH) | (1 << IP_LOW) | (u32(isUnfolded) << UNFOLDED_BIT);
  }
  if (members.has(URL_HEAD)) {
    mask |= (1 << URL_TAIL) | (u32(appendUrl()) << UNFOLDED_BIT);
  }
  append32(MASKS, mask);
  setEnd(LOGS, logEnd);
}

function appendText(field: u32): void {
  const at = endOf(field);
  const end = copyText(at + 4, members.valueStart(field), members.valueEnd(field));
  store<u32>(at, <u32>(end - at - 4));
  setEnd(field, end);
}

/** Whether lower case may change the tail. */
function appendUrl(): bool {
  const headAt = endOf(URL_HEAD);
  const start = headAt + 4;
  const end = copyText(start, members.valueStart(URL_HEAD), members.valueEnd(URL_HEAD));
  const headEnd = behindQuestionMark(start, end);
  store<u32>(headAt, <u32>(headEnd - start));
  setEnd(URL_HEAD, headEnd);
  const tailAt = endOf(URL_TAIL);
  store<u32>(tailAt, <u32>(end - headEnd));
  memory.copy(tailAt + 4, headEnd, end - headEnd);
  setEnd(URL_TAIL, tailAt + 4 + (end - headEnd));
  return isChangedByLowerCase(headEnd, end);
}

/** The place behind the first question mark from `at` on, or `end` where there is none. */
function behindQuestionMark(at: usize, end: usize): usize {
  const questionMark = v128.load(QUESTION_MARKS);
  for (; at < end; at += 16) {
    const found = i8x16.eq(v128.load(at), questionMark);
    if (v128.any_true(found)) {
      return min<usize>(at + <usize>ctz(i8x16.bitmask(found)) + 1, end);
    }
  }
  return end;
}

/** Whether there is an upper case letter from `at` on, or a byte of a character beyond ASCII. */
function isChangedByLowerCase(at: usize, end: usize): bool {
  const largeA = v128.load(LARGE_AS);
  const letters = v128.load(LETTERS);
  const zeros = v128.load(ZEROS);
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const changed = v128.or(i8x16.le_u(i8x16.sub(bytes, largeA), letters), i8x16.lt_s(bytes, zeros));
    if (v128.any_true(changed)) {
      // The first one may be behind the end.
      return at + <usize>ctz(i8x16.bitmask(changed)) < end;
    }
  }
  return false;
}
