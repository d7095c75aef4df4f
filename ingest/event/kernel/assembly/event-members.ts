import { readAddress } from './addresses';
import {
  ASN,
  enterNames,
  FIELD_COUNT,
  FIRST_FACTOR,
  IP,
  LENGTH_FACTOR,
  LOG,
  LOG_ID,
  NAME_SLOTS,
  NO_FIELD,
  PLAIN_TEXTS,
  SHIELD_ZONE_ID,
  TIMESTAMP,
} from './field-table';
import { CLOSE_BRACE, COMMA, OPEN_BRACE, QUOTE, skipBlanks } from './json-text';
import { lastInteger, readInteger, skipColon, skipObject } from './json-values';
import { skipString } from './strings';

/** Finds the fields of an event and checks their values. */

const LONGEST_LOG_ID_BYTES: usize = 512;
const LARGEST_INT32: u64 = 0x7fff_ffff;
/** So many digits fit into every number that a double holds exactly. */
const MAX_TIMESTAMP_DIGITS: usize = 15;
const MAX_ASN_DIGITS: usize = 9;

const REQUIRED: u32 = (1 << SHIELD_ZONE_ID) | (1 << TIMESTAMP) | (1 << LOG);

/** Addresses of the start and the end of each field's value, four bytes each. */
const VALUES: usize = heap.alloc(8 * FIELD_COUNT);

/** A slot has a name in 16 bytes, its length, its field. */
const SLOT_BYTES: usize = 32;
const LENGTH_AT: usize = 16;
const FIELD_AT: usize = 20;

const SLOTS: usize = heap.alloc(<usize>NAME_SLOTS * SLOT_BYTES);
memory.fill(SLOTS, 0, <usize>NAME_SLOTS * SLOT_BYTES);
enterNames(enter);

function enter(name: string, field: u32): void {
  const slot = slotOf(name.length, name.charCodeAt(0), name.charCodeAt(name.length - 1));
  for (let index = 0; index < name.length; index++) {
    store<u8>(slot + index, <u8>name.charCodeAt(index));
  }
  store<usize>(slot, name.length, LENGTH_AT);
  store<u32>(slot, field, FIELD_AT);
}

/** `name-hash.ts` chooses the factors so that each name has a slot of its own. */
function slotOf(length: usize, first: u32, last: u32): usize {
  return SLOTS + ((length * LENGTH_FACTOR + first * FIRST_FACTOR + last) & (NAME_SLOTS - 1)) * SLOT_BYTES;
}

/** The field whose name is the `length` bytes from `at` on, after a quote; `NO_FIELD` where it is none. */
function fieldAt(at: usize, length: usize): u32 {
  const slot = slotOf(length, load<u8>(at), load<u8>(at + length - 1));
  if (load<usize>(slot, LENGTH_AT) !== length) {
    return NO_FIELD;
  }
  const differing = ~i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(slot)));
  return ctz(differing) < <i32>length ? NO_FIELD : load<u32>(slot, FIELD_AT);
}

/** The members of an event. Ranges end before their `end`. */
class EventMembers {
  /** The event's braces. */
  openAt: usize = 0;
  closeAt: usize = 0;
  logStart: usize = 0;
  logEnd: usize = 0;
  zoneId: u32 = 0;
  timestampMs: f64 = 0;
  /** A bit for each field that the event has. */
  seen: u32 = 0;

  has(field: u32): bool {
    return (this.seen & (1 << field)) !== 0;
  }

  /** Address of the text of a field that the event has, after the quote. */
  valueStart(field: u32): usize {
    return load<usize>(VALUES + 8 * field) + 1;
  }

  /** Address of its closing quote. */
  valueEnd(field: u32): usize {
    return load<usize>(VALUES + 8 * field, 4) - 1;
  }
}

export const members = new EventMembers();

/** True where the bytes from `at` up to `end` are an event that the kernel takes; `members` then has what is in it. */
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

/** Address after the member that begins at `at`, or 0 where the kernel does not take it. */
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
    const valueEnd = ((PLAIN_TEXTS >> field) & 1) !== 0 ? readText(valueStart) : readValue(field, valueStart);
    store<usize>(VALUES + 8 * field, valueStart);
    store<usize>(VALUES + 8 * field, valueEnd, 4);
    return valueEnd;
  }
  const end = load<u8>(valueStart) === OPEN_BRACE ? skipObject(valueStart) : 0;
  members.logStart = valueStart;
  members.logEnd = end;
  return end;
}

/** Address after the value of a field with a rule of its own, or 0 where the kernel does not take it. */
function readValue(field: u32, at: usize): usize {
  switch (field) {
    case LOG_ID:
      return readLogId(at);
    case SHIELD_ZONE_ID:
      return readZoneId(at);
    case TIMESTAMP:
      return readTimestamp(at);
    case IP:
      return readIp(at);
    case ASN:
      return readAsn(at);
    default:
      // A rule that the kernel does not have: the scanner reads the event.
      return 0;
  }
}

function readText(at: usize): usize {
  return load<u8>(at) === QUOTE ? skipString() : 0;
}

function readLogId(at: usize): usize {
  const end = readText(at);
  // Without a text this is far more than allowed.
  const bytes = end - at - 2;
  return bytes >= 1 && bytes <= LONGEST_LOG_ID_BYTES ? end : 0;
}

function readZoneId(at: usize): usize {
  const end = readInteger(at, 10);
  members.zoneId = <u32>lastInteger();
  return lastInteger() <= LARGEST_INT32 ? end : 0;
}

function readTimestamp(at: usize): usize {
  const end = readInteger(at, MAX_TIMESTAMP_DIGITS);
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
  return end !== 0 && readInteger(at + 1, MAX_ASN_DIGITS) === end - 1 ? end : 0;
}
