import { members } from './event-members';
import { IP, IP_MARK, RULE_ID, RULE_ID_MARK, RULE_NAME, RULE_NAME_MARK, SHORTEST_PACKED, URL, URL_MARK } from './field-table';
import { BACKSLASH, NEWLINE } from './json-text';

/** Packs a log: a mark replaces each value of the event's fields that it repeats; see `query/packed-log.ts`. */

/** NULs, which no log has. */
const NOWHERE: usize = memory.data(16, 16);

/** How many bytes may still be compared in vain in this log. */
let effort: i32 = 0;

/** A value that a log may repeat. */
@final
class PackedValue {
  start: usize = NOWHERE;
  length: usize = SHORTEST_PACKED;

  /** Takes over the field's value from `members`; where it is missing or too short, something that no log has. */
  read(field: u32): void {
    const start = members.valueStart(field);
    const length = members.valueEnd(field) - start;
    const counts = members.has(field) && length >= SHORTEST_PACKED;
    this.start = counts ? start : NOWHERE;
    this.length = counts ? length : SHORTEST_PACKED;
  }

  /** Sixteen times the first byte. */
  @inline
  get first(): v128 {
    return v128.load8_splat(this.start);
  }

  /** Sixteen times the last of the bytes that every value has. */
  @inline
  get sixth(): v128 {
    return v128.load8_splat(this.start + SHORTEST_PACKED - 1);
  }

  /** Whether the bytes from `at` on, before `end`, are the value. A value with escapes is nowhere: its backslashes are taken to differ. */
  isAt(at: usize, end: usize): bool {
    if (at + this.length > end) {
      return false;
    }
    const backslash = i8x16.splat(<i8>BACKSLASH);
    for (let offset: usize = 0; offset < this.length; offset += 16) {
      const here = v128.load(this.start + offset);
      const differing = i8x16.bitmask(v128.or(i8x16.ne(v128.load(at + offset), here), i8x16.eq(here, backslash)));
      if (differing !== 0 && offset + <usize>ctz(differing) < this.length) {
        effort -= <i32>offset;
        return false;
      }
    }
    return true;
  }
}

const url = new PackedValue();
const ip = new PackedValue();
const ruleName = new PackedValue();
const ruleId = new PackedValue();

/** Mark and length of the value that was found last. */
let mark: u32 = 0;
let length: usize = 0;

/**
 * Writes the log from `at` up to `end` to `out`, packed, with a newline. Returns the address after it, or 0 where values and log repeat
 * themselves so much that finding one in the other would take the square of their length: the scanner has another way to search.
 */
export function packLog(at: usize, end: usize, out: usize): usize {
  url.read(URL);
  ip.read(IP);
  ruleName.read(RULE_NAME);
  ruleId.read(RULE_ID);
  effort = 16 * <i32>(end - at);
  const urlFirst = url.first;
  const urlSixth = url.sixth;
  const ipFirst = ip.first;
  const ipSixth = ip.sixth;
  const nameFirst = ruleName.first;
  const nameSixth = ruleName.sixth;
  const idFirst = ruleId.first;
  const idSixth = ruleId.sixth;
  while (at < end) {
    const block = v128.load(at);
    const behind = v128.load(at, SHORTEST_PACKED - 1);
    // Where two of a value's bytes are as far apart as they have to be.
    const urls = v128.and(i8x16.eq(block, urlFirst), i8x16.eq(behind, urlSixth));
    const ips = v128.and(i8x16.eq(block, ipFirst), i8x16.eq(behind, ipSixth));
    const names = v128.and(i8x16.eq(block, nameFirst), i8x16.eq(behind, nameSixth));
    const ids = v128.and(i8x16.eq(block, idFirst), i8x16.eq(behind, idSixth));
    const any = v128.or(v128.or(urls, ips), v128.or(names, ids));
    v128.store(out, block);
    let step: usize = 16;
    if (v128.any_true(any)) {
      step = findValue(at, end, i8x16.bitmask(any));
      if (effort < 0) {
        return 0;
      }
    }
    at += step;
    out += step;
    if (step < 16) {
      store<u8>(out, mark);
      out++;
      at += length;
    }
  }
  // The last block may have been written beyond the end.
  out -= at - end;
  store<u8>(out, <u8>NEWLINE);
  return out + 1;
}

/** Index in a block of the first value that begins in it, or 16; `candidates` has a bit for each byte that one may begin with. */
function findValue(block: usize, end: usize, candidates: i32): usize {
  for (; candidates !== 0; candidates &= candidates - 1) {
    const index = <usize>ctz(candidates);
    if (
      isValue(url, URL_MARK, block + index, end) ||
      isValue(ip, IP_MARK, block + index, end) ||
      isValue(ruleName, RULE_NAME_MARK, block + index, end) ||
      isValue(ruleId, RULE_ID_MARK, block + index, end)
    ) {
      return index;
    }
  }
  return 16;
}

function isValue(value: PackedValue, itsMark: u32, at: usize, end: usize): bool {
  if (!value.isAt(at, end)) {
    return false;
  }
  mark = itsMark;
  length = value.length;
  return true;
}
