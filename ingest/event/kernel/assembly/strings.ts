import { BLOCK, LONGEST_EVENT } from './columns';
import { BACKSLASH, escapeBytes, QUOTE, SPACE, sixteen, skipCharacter, skipEscape, writeEscaped } from './json-text';

/** Finds all strings of an event at once, 64 bytes at a time, and copies texts without their escapes. */

/** Written after an event: no token begins with it, and no escape or character goes on with it. */
const FILLER: i8 = 0x7f;

const QUOTES: usize = sixteen(0x22);
const BACKSLASHES: usize = sixteen(0x5c);
const SPACES: usize = sixteen(0x20);

const ADDRESS_BYTES: usize = 4;
/** Stands after the last quote, for a string without an end. */
const NOWHERE: usize = <usize>-1;
/** Addresses of the quotes of the event, in order, but for those in escapes. */
const quoteAddresses: usize = heap.alloc(ADDRESS_BYTES * (LONGEST_EVENT + BLOCK));
/** Entry in `quoteAddresses` of the opening quote of the next string. */
let nextString: usize = 0;

/** Bits for the quotes in escapes: of the block under way, and of the next one. The last block of an event leaves none. */
let escapedHere: u64 = 0;
let escapedNext: u64 = 0;

/**
 * Finds all strings between `at` and `end`, and checks their characters. False where an escape, a control character or a sequence of bytes
 * is one that the kernel does not take, wherever it is. Writes over the block after `end`.
 */
export function findStrings(at: usize, end: usize): bool {
  fillBehind(end);
  const quote = v128.load(QUOTES);
  const backslash = v128.load(BACKSLASHES);
  const space = v128.load(SPACES);
  nextString = quoteAddresses;
  let entry = quoteAddresses;
  let checked = at;
  for (; at < end; at += BLOCK) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    escapedHere = escapedNext;
    escapedNext = 0;
    let quotes = join(i8x16.eq(a, quote), i8x16.eq(b, quote), i8x16.eq(c, quote), i8x16.eq(d, quote)) & ~escapedHere;
    const specialA = specialsIn(a, backslash, space);
    const specialB = specialsIn(b, backslash, space);
    const specialC = specialsIn(c, backslash, space);
    const specialD = specialsIn(d, backslash, space);
    if (v128.any_true(v128.or(v128.or(specialA, specialB), v128.or(specialC, specialD)))) {
      checked = checkSpecials(at, join(specialA, specialB, specialC, specialD), checked);
      if (checked === 0) {
        return false;
      }
      quotes &= ~escapedHere;
    }
    entry = writeAddresses(entry, at, quotes);
  }
  store<usize>(entry, NOWHERE);
  return true;
}

/** Address after the next string, or 0 where it has no end. Called once for each string, in order. */
export function skipString(): usize {
  const end = load<usize>(nextString, ADDRESS_BYTES);
  nextString += 2 * ADDRESS_BYTES;
  return end + 1;
}

function fillBehind(end: usize): void {
  for (let offset: usize = 0; offset < BLOCK; offset += 16) {
    v128.store(end + offset, i8x16.splat(FILLER));
  }
}

/** Backslashes, control characters and bytes beyond ASCII: the last two are less than a space when read as signed. */
function specialsIn(bytes: v128, backslash: v128, space: v128): v128 {
  return v128.or(i8x16.eq(bytes, backslash), i8x16.lt_s(bytes, space));
}

/** One bit for each of 64 bytes. */
function join(a: v128, b: v128, c: v128, d: v128): u64 {
  const low: u32 = i8x16.bitmask(a) | (i8x16.bitmask(b) << 16);
  const high: u32 = i8x16.bitmask(c) | (i8x16.bitmask(d) << 16);
  return u64(low) | (u64(high) << 32);
}

/**
 * Checks escapes and characters of more than one byte in the 64 bytes from `block` on; `specials` has a bit for each byte of
 * {@link specialsIn}. Bytes before `checked` belong to one that was checked already. Returns the address after the last one, or 0 where
 * one is not taken.
 */
function checkSpecials(block: usize, specials: u64, checked: usize): usize {
  for (; specials !== 0; specials &= specials - 1) {
    const at = block + <usize>ctz(specials);
    if (at < checked) {
      continue;
    }
    checked = checkSpecial(block, at);
    if (checked === 0) {
      return 0;
    }
  }
  return checked;
}

function checkSpecial(block: usize, at: usize): usize {
  const byte: u32 = load<u8>(at);
  if (byte !== BACKSLASH) {
    return byte < SPACE ? 0 : skipCharacter(at);
  }
  if (load<u8>(at, 1) === QUOTE) {
    const bit = at + 1 - block;
    if (bit < 64) {
      escapedHere |= (<u64>1) << (<u64>bit);
    } else {
      escapedNext = 1;
    }
  }
  return skipEscape(at + 1);
}

/**
 * Writes the addresses of a block's quotes from `entry` on; returns the entry for those of the next block. Writes four at a time without
 * asking how many there are: entries too many are written over.
 */
function writeAddresses(entry: usize, block: usize, quotes: u64): usize {
  const behind = entry + ADDRESS_BYTES * <usize>popcnt(quotes);
  do {
    quotes = writeAddress(entry, block, quotes);
    quotes = writeAddress(entry + ADDRESS_BYTES, block, quotes);
    quotes = writeAddress(entry + 2 * ADDRESS_BYTES, block, quotes);
    quotes = writeAddress(entry + 3 * ADDRESS_BYTES, block, quotes);
    entry += 4 * ADDRESS_BYTES;
  } while (quotes !== 0);
  return behind;
}

/** Writes the address of the first quote; returns the others. */
function writeAddress(entry: usize, block: usize, quotes: u64): u64 {
  store<usize>(entry, block + <usize>ctz(quotes));
  return quotes & (quotes - 1);
}

/**
 * Writes the text of the JSON string from `at` up to `end`, its closing quote, to `out`. Its escapes are valid. Returns the address behind
 * the text; writes over up to 16 bytes there.
 */
export function copyText(out: usize, at: usize, end: usize): usize {
  const backslash = v128.load(BACKSLASHES);
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(out, bytes);
    const backslashes = i8x16.eq(bytes, backslash);
    let step: usize = 16;
    if (v128.any_true(backslashes)) {
      step = <usize>ctz(i8x16.bitmask(backslashes));
      if (at + step < end) {
        out = writeEscaped(out + step, at + step + 1);
        at += step + escapeBytes(at + step + 1);
        continue;
      }
      step = 16;
    }
    at += step;
    out += step;
  }
  // The last 16 bytes may have gone beyond the end.
  return out - (at - end);
}
