import { IP, RULE_ID, RULE_NAME } from './columns';
import { URL } from './fields';
import { NEWLINE } from './json-bytes';
import { allowEffort, isTooMuchEffort, PackedValue, SHORTEST } from './packed-value';

/** The values that a log is packed by, in the order of `PACKED_FIELDS`. */
const url = new PackedValue();
const ip = new PackedValue();
const ruleName = new PackedValue();
const ruleId = new PackedValue();

/** The marks for them. */
const URL_MARK: u32 = 1;
const IP_MARK: u32 = 2;
const RULE_NAME_MARK: u32 = 3;
const RULE_ID_MARK: u32 = 4;

/** What was found last. */
let mark: u32 = 0;
let length: usize = 0;

/** Writes the log from `at` up to `end` to `out`, packed, with a newline. The place behind it, or 0 where the kernel does not take it. */
export function packLog(at: usize, end: usize, out: usize): usize {
  url.read(URL);
  ip.read(IP);
  ruleName.read(RULE_NAME);
  ruleId.read(RULE_ID);
  allowEffort(end - at);
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
    const behind = v128.load(at, SHORTEST - 1);
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
      if (isTooMuchEffort()) {
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

/** How many bytes before the first value in a block begin, of which `candidates` has a bit for each that one may begin with; 16 where none does. */
function findValue(block: usize, end: usize, candidates: i32): usize {
  for (; candidates !== 0; candidates &= candidates - 1) {
    const place = <usize>ctz(candidates);
    if (
      isValue(url, URL_MARK, block + place, end) ||
      isValue(ip, IP_MARK, block + place, end) ||
      isValue(ruleName, RULE_NAME_MARK, block + place, end) ||
      isValue(ruleId, RULE_ID_MARK, block + place, end)
    ) {
      return place;
    }
  }
  return 16;
}

function isValue(value: PackedValue, itsMark: u32, at: usize, end: usize): bool {
  if (!value.standsAt(at, end)) {
    return false;
  }
  mark = itsMark;
  length = value.length;
  return true;
}
