import { readAddress } from './addresses';
import { skipBlanks } from './blanks';
import { IP, TIMESTAMP, ZONE_ID } from './columns';
import { FREE_TEXTS, fieldAt, LOG, LOG_ID, NO_FIELD } from './fields';
import { CLOSE_BRACE, COMMA, OPEN_BRACE, QUOTE } from './json-bytes';
import { lastInteger, readInteger } from './numbers';
import { skipColon, skipObject } from './objects';
import { skipString } from './strings';

const LONGEST_LOG_ID_BYTES: usize = 512;
const LARGEST_INT32: u64 = 0x7fff_ffff;
/** As many digits as every number has that a double holds exactly. */
const MOST_TIMESTAMP_DIGITS: usize = 15;
const MOST_ASN_DIGITS: usize = 9;

const REQUIRED: u32 = (1 << ZONE_ID) | (1 << TIMESTAMP) | (1 << LOG);

/** Where the value of each field begins and ends, four bytes for each. */
const VALUES: usize = memory.data(8 * 18, 8);

/** What was found in an event. Ranges end before their `end`. */
class EventMembers {
  /** The event's braces. */
  openAt: usize = 0;
  closeAt: usize = 0;
  /** The log. */
  logStart: usize = 0;
  logEnd: usize = 0;
  zoneId: u32 = 0;
  timestampMs: f64 = 0;
  /** A bit for each field that was there. */
  seen: u32 = 0;

  has(field: u32): bool {
    return (this.seen & (1 << field)) !== 0;
  }

  /** Where the text of a field that was there begins, behind the quote. */
  valueStart(field: u32): usize {
    return load<usize>(VALUES + 8 * field) + 1;
  }

  /** Where it ends, at the quote. */
  valueEnd(field: u32): usize {
    return load<usize>(VALUES + 8 * field, 4) - 1;
  }
}

export const members = new EventMembers();

/** True where the bytes from `at` on are an event that the kernel takes, up to the NUL at `end`; `members` then tells what it has. */
export function readMembers(at: usize, end: usize): bool {
  at = skipBlanks(at);
  members.openAt = at;
  members.seen = 0;
  if (load<u8>(at) !== OPEN_BRACE) {
    return false;
  }
  do {
    at = readMember(skipBlanks(at + 1));
    if (at === 0) {
      return false;
    }
    at = skipBlanks(at);
  } while (load<u8>(at) === COMMA);
  members.closeAt = at;
  return load<u8>(at) === CLOSE_BRACE && (members.seen & REQUIRED) === REQUIRED && skipBlanks(at + 1) === end;
}

/** The place behind the member that begins at `at`, or 0 where it is none that the kernel takes. */
function readMember(at: usize): usize {
  if (load<u8>(at) !== QUOTE) {
    return 0;
  }
  const nameEnd = skipString();
  const field = nameEnd === 0 ? NO_FIELD : fieldAt(at + 1, nameEnd - at - 2);
  if (field === NO_FIELD || members.has(field)) {
    return 0;
  }
  members.seen |= 1 << field;
  const valueStart = skipColon(nameEnd);
  if (valueStart === 0) {
    return 0;
  }
  if (field !== LOG) {
    const valueEnd = ((FREE_TEXTS >> field) & 1) !== 0 ? readText(valueStart) : readValue(field, valueStart);
    store<usize>(VALUES + 8 * field, valueStart);
    store<usize>(VALUES + 8 * field, valueEnd, 4);
    return valueEnd;
  }
  const end = load<u8>(valueStart) === OPEN_BRACE ? skipObject(valueStart) : 0;
  members.logStart = valueStart;
  members.logEnd = end;
  return end;
}

/** The place behind the value of the field, or 0 where it is none that the kernel takes. */
function readValue(field: u32, at: usize): usize {
  switch (field) {
    case LOG_ID:
      return readLogId(at);
    case ZONE_ID:
      return readZoneId(at);
    case TIMESTAMP:
      return readTimestamp(at);
    case IP:
      return readIp(at);
    default:
      return readAsn(at);
  }
}

function readText(at: usize): usize {
  return load<u8>(at) === QUOTE ? skipString() : 0;
}

function readLogId(at: usize): usize {
  const end = readText(at);
  // Where there is none, this is far more than allowed.
  const bytes = end - at - 2;
  return bytes >= 1 && bytes <= LONGEST_LOG_ID_BYTES ? end : 0;
}

function readZoneId(at: usize): usize {
  const end = readInteger(at, 10);
  members.zoneId = <u32>lastInteger();
  return lastInteger() <= LARGEST_INT32 ? end : 0;
}

function readTimestamp(at: usize): usize {
  const end = readInteger(at, MOST_TIMESTAMP_DIGITS);
  members.timestampMs = <f64>lastInteger();
  return end;
}

/** Neither an address nor a number can hold an escape. */
function readIp(at: usize): usize {
  const end = readText(at);
  return end !== 0 && readAddress(at + 1, end - 1) ? end : 0;
}

function readAsn(at: usize): usize {
  const end = readText(at);
  return end !== 0 && readInteger(at + 1, MOST_ASN_DIGITS) === end - 1 ? end : 0;
}
