import { lastHigh, lastLow } from './addresses';
import { append32, append64, endOf, givenId, setEnd } from './columns';
import { members } from './event-members';
import {
  FIELDS_WITH_COLUMN,
  IP,
  IP_HIGH_COLUMN,
  IP_LOW_COLUMN,
  LOG_ID,
  LOG_ID_BYTES_COLUMN,
  LOG_ID_TEXT_COLUMN,
  LOGS,
  MASKS,
  ONE_COLUMN_TEXTS,
  SHIELD_ZONE_ID_COLUMN,
  TIMESTAMP_COLUMN,
  URL,
  URL_HEAD_COLUMN,
  URL_TAIL_COLUMN,
} from './field-table';
import { sixteen } from './json-text';
import { copyText } from './strings';

/** Appends the fields of an event to the columns, as `ColumnWriter` does. */

/** The bit of a mask for `HAS_UPPERCASE_OR_NON_ASCII_BIT`, after those of the columns. */
const CHANGED_BY_LOWER_CASE: u32 = MASKS;

const QUESTION_MARKS: usize = sixteen(0x3f);
const LARGE_AS: usize = sixteen(0x41);
const LETTERS: usize = sixteen(25);

const ZEROS: usize = sixteen(0);
const DIGIT_ZEROS: usize = sixteen(0x30);
const NINES: usize = sixteen(9);
const SMALL_AS: usize = sixteen(0x61);
const FIVES: usize = sixteen(5);
const TENS: usize = sixteen(10);

const HEX_DIGITS: usize = 32;
const UUID_BYTES: usize = 36;
const DASH: u32 = 0x2d;

/** The digits of a UUID without its dashes. */
const withoutDashes: usize = heap.alloc(HEX_DIGITS);

/** Appends the event in `members` with its own id. Its log was written after the others, up to `logEnd`. */
export function appendWithOwnId(logEnd: usize): void {
  const start = endOf(LOG_ID_TEXT_COLUMN) + 4;
  appendFields(logEnd, appendId(start, copyText(start, members.valueStart(LOG_ID), members.valueEnd(LOG_ID))));
}

/** The same with an id of `length` bytes that was given for it. */
export function appendWithGivenId(logEnd: usize, length: usize): void {
  const start = endOf(LOG_ID_TEXT_COLUMN) + 4;
  memory.copy(start, givenId, length);
  appendFields(logEnd, appendId(start, start + length));
}

/** `idBits` say in which columns the id is. */
function appendFields(logEnd: usize, idBits: u32): void {
  append32(SHIELD_ZONE_ID_COLUMN, members.zoneId);
  append64(TIMESTAMP_COLUMN, <u64>members.timestampMs);
  for (let texts = members.seen & ONE_COLUMN_TEXTS; texts !== 0; texts &= texts - 1) {
    appendText(ctz(texts));
  }
  let mask = (members.seen & FIELDS_WITH_COLUMN) | idBits;
  if (members.has(IP)) {
    append64(IP_HIGH_COLUMN, lastHigh());
    append64(IP_LOW_COLUMN, lastLow());
    const isChanged = isChangedByLowerCase(members.valueStart(IP), members.valueEnd(IP));
    mask |= (1 << IP_HIGH_COLUMN) | (1 << IP_LOW_COLUMN) | (u32(isChanged) << CHANGED_BY_LOWER_CASE);
  }
  if (members.has(URL)) {
    mask |= (1 << URL_TAIL_COLUMN) | (u32(appendUrl()) << CHANGED_BY_LOWER_CASE);
  }
  append32(MASKS, mask);
  setEnd(LOGS, logEnd);
}

/** A field's number is that of its column. */
function appendText(field: u32): void {
  const at = endOf(field);
  const end = copyText(at + 4, members.valueStart(field), members.valueEnd(field));
  store<u32>(at, <u32>(end - at - 4));
  setEnd(field, end);
}

/** Returns whether lower case may change the tail. */
function appendUrl(): bool {
  const headAt = endOf(URL_HEAD_COLUMN);
  const start = headAt + 4;
  const end = copyText(start, members.valueStart(URL), members.valueEnd(URL));
  const headEnd = behindQuestionMark(start, end);
  store<u32>(headAt, <u32>(headEnd - start));
  setEnd(URL_HEAD_COLUMN, headEnd);
  const tailAt = endOf(URL_TAIL_COLUMN);
  store<u32>(tailAt, <u32>(end - headEnd));
  memory.copy(tailAt + 4, headEnd, end - headEnd);
  setEnd(URL_TAIL_COLUMN, tailAt + 4 + (end - headEnd));
  return isChangedByLowerCase(headEnd, end);
}

/** Address after the first question mark from `at` on, or `end` where there is none. */
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
      // The first one may be after the end.
      return at + <usize>ctz(i8x16.bitmask(changed)) < end;
    }
  }
  return false;
}

/**
 * The id was written from `start` up to `end` after the end of the column of texts, with room for a length before it. Makes it a value of
 * that column, or of the column of bytes where it is 32 hexadecimal digits in lower case or a UUID. Returns the bits of the mask for that.
 */
function appendId(start: usize, end: usize): u32 {
  const length = end - start;
  if (length === HEX_DIGITS && appendIdBytes(start)) {
    return 1 << LOG_ID_BYTES_COLUMN;
  }
  if (length === UUID_BYTES && isDashed(start) && appendIdBytes(withoutDashes)) {
    append32(LOG_ID_TEXT_COLUMN, 1);
    const at = endOf(LOG_ID_TEXT_COLUMN);
    store<u8>(at, <u8>DASH);
    setEnd(LOG_ID_TEXT_COLUMN, at + 1);
    return (1 << LOG_ID_BYTES_COLUMN) | (1 << LOG_ID_TEXT_COLUMN);
  }
  store<u32>(start - 4, <u32>length);
  setEnd(LOG_ID_TEXT_COLUMN, end);
  return 1 << LOG_ID_TEXT_COLUMN;
}

/** Whether the 36 bytes from `at` on have the dashes of a UUID; then the others are written to `withoutDashes`. */
function isDashed(at: usize): bool {
  if (load<u8>(at, 8) !== DASH || load<u8>(at, 13) !== DASH || load<u8>(at, 18) !== DASH || load<u8>(at, 23) !== DASH) {
    return false;
  }
  store<u64>(withoutDashes, load<u64>(at));
  store<u32>(withoutDashes, load<u32>(at, 9), 8);
  store<u32>(withoutDashes, load<u32>(at, 14), 12);
  store<u32>(withoutDashes, load<u32>(at, 19), 16);
  store<u64>(withoutDashes, load<u64>(at, 24), 20);
  store<u32>(withoutDashes, load<u32>(at, 32), 28);
  return true;
}

/** Appends the 16 bytes that the 32 digits from `at` on stand for; false where one of them is no digit. */
function appendIdBytes(at: usize): bool {
  const first = v128.load(at);
  const second = v128.load(at, 16);
  if (!v128.all_true<i8>(v128.and(areDigits(first), areDigits(second)))) {
    return false;
  }
  const out = endOf(LOG_ID_BYTES_COLUMN);
  store<u32>(out, 16);
  v128.store(out, i8x16.narrow_i16x8_u(pairs(first), pairs(second)), 4);
  setEnd(LOG_ID_BYTES_COLUMN, out + 20);
  return true;
}

/** All ones for each byte that is a hexadecimal digit in lower case. */
function areDigits(bytes: v128): v128 {
  const decimal = i8x16.le_u(i8x16.sub(bytes, v128.load(DIGIT_ZEROS)), v128.load(NINES));
  const letter = i8x16.le_u(i8x16.sub(bytes, v128.load(SMALL_AS)), v128.load(FIVES));
  return v128.or(decimal, letter);
}

/** The values of eight pairs of digits, 16 bits each. */
function pairs(digits: v128): v128 {
  const decimal = i8x16.sub(digits, v128.load(DIGIT_ZEROS));
  const letter = i8x16.add(i8x16.sub(digits, v128.load(SMALL_AS)), v128.load(TENS));
  const values = v128.bitselect(decimal, letter, i8x16.le_u(decimal, v128.load(NINES)));
  // The digit that comes first is the lower byte.
  return v128.and(v128.or(i16x8.shl(values, 4), i16x8.shr_u(values, 8)), i16x8.splat(0xff));
}
