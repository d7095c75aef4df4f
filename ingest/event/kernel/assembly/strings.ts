import { BLOCK, LONGEST_EVENT } from './event-memory';
import { sixteen } from './sixteen';
import { checkSpecials, escapedQuotes, nextEscapedQuotes } from './special-bytes';

/** What is written behind an event: no token begins like that, and no escape or character goes on so. */
const FILLER: i8 = 0x7f;

const QUOTES: usize = sixteen(0x22);
const BACKSLASHES: usize = sixteen(0x5c);
const SPACES: usize = sixteen(0x20);

/** Where the quotes of the event are, in order, but for those in escapes; `NOWHERE` behind the last, for a string without an end. */
const PLACE_BYTES: usize = 4;
const NOWHERE: usize = <usize>-1;
const places: usize = heap.alloc(PLACE_BYTES * (LONGEST_EVENT + BLOCK));
/** Where in `places` the opening quote of the next string is. */
let nextString: usize = 0;

/**
 * Finds all strings between `at` and `end`, and checks what is in them. False where there is an escape, a control character or a sequence of
 * bytes that the kernel does not take, wherever it stands. What is behind `end` is written over.
 */
export function findStrings(at: usize, end: usize): bool {
  fillBehind(end);
  const quote = v128.load(QUOTES);
  const backslash = v128.load(BACKSLASHES);
  const space = v128.load(SPACES);
  nextString = places;
  let place = places;
  let checked = at;
  for (; at < end; at += BLOCK) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    let quotes = join(i8x16.eq(a, quote), i8x16.eq(b, quote), i8x16.eq(c, quote), i8x16.eq(d, quote)) & ~nextEscapedQuotes();
    const specialA = specialsIn(a, backslash, space);
    const specialB = specialsIn(b, backslash, space);
    const specialC = specialsIn(c, backslash, space);
    const specialD = specialsIn(d, backslash, space);
    if (v128.any_true(v128.or(v128.or(specialA, specialB), v128.or(specialC, specialD)))) {
      checked = checkSpecials(at, join(specialA, specialB, specialC, specialD), checked);
      if (checked === 0) {
        return false;
      }
      quotes &= ~escapedQuotes();
    }
    place = writePlaces(place, at, quotes);
  }
  store<usize>(place, NOWHERE);
  return true;
}

/** The place behind the next string, or 0 where it has no end. To be called once for each string, in order. */
export function skipString(): usize {
  const end = load<usize>(nextString, PLACE_BYTES);
  nextString += 2 * PLACE_BYTES;
  return end + 1;
}

function fillBehind(end: usize): void {
  for (let place: usize = 0; place < BLOCK; place += 16) {
    v128.store(end + place, i8x16.splat(FILLER));
  }
}

/** Backslashes, control characters and what is not ASCII: the last two are less than a space when bytes are read as signed. */
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
 * Writes where the quotes of a block are; where the next block's are to be written. Four at a time without asking how many there are:
 * what is written too much is written over.
 */
function writePlaces(place: usize, block: usize, quotes: u64): usize {
  const behind = place + PLACE_BYTES * <usize>popcnt(quotes);
  do {
    quotes = writePlace(place, block, quotes);
    quotes = writePlace(place + PLACE_BYTES, block, quotes);
    quotes = writePlace(place + 2 * PLACE_BYTES, block, quotes);
    quotes = writePlace(place + 3 * PLACE_BYTES, block, quotes);
    place += 4 * PLACE_BYTES;
  } while (quotes !== 0);
  return behind;
}

/** Writes where the first one is; the others. */
function writePlace(place: usize, block: usize, quotes: u64): u64 {
  store<usize>(place, block + <usize>ctz(quotes));
  return quotes & (quotes - 1);
}
