import { append32, endOf, ID_BYTES, ID_TEXT, setEnd } from './columns';
import { sixteen } from './sixteen';

const DIGITS: usize = 32;
const UUID_BYTES: usize = 36;
const DASH: u32 = 0x2d;

const ZEROS: usize = sixteen(0x30);
const NINES: usize = sixteen(9);
const SMALL_AS: usize = sixteen(0x61);
const FIVES: usize = sixteen(5);
const TENS: usize = sixteen(10);

/** The digits of a UUID without its dashes. */
const withoutDashes: usize = heap.alloc(DIGITS);

/**
 * An id was written from `start` up to `end` behind the end of its column, with room for a length before it. Makes it a value of that column, or where it is 32 hexadecimal digits in lower case
 * or a UUID, one of the column of bytes. The bits of the mask for that.
 */
export function appendId(start: usize, end: usize): u32 {
  const length = end - start;
  if (length === DIGITS && appendBytes(start)) {
    return 1 << ID_BYTES;
  }
  if (length === UUID_BYTES && isDashed(start) && appendBytes(withoutDashes)) {
    append32(ID_TEXT, 1);
    const at = endOf(ID_TEXT);
    store<u8>(at, <u8>DASH);
    setEnd(ID_TEXT, at + 1);
    return (1 << ID_BYTES) | (1 << ID_TEXT);
  }
  store<u32>(start - 4, <u32>length);
  setEnd(ID_TEXT, end);
  return 1 << ID_TEXT;
}

/** Whether the dashes of a UUID are where they should be in the 36 bytes from `at` on; then the others are written to `withoutDashes`. */
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

/** Appends the 16 bytes that the 32 digits from `at` on stand for; false where one of them is none. */
function appendBytes(at: usize): bool {
  const first = v128.load(at);
  const second = v128.load(at, 16);
  if (!v128.all_true<i8>(v128.and(areDigits(first), areDigits(second)))) {
    return false;
  }
  const out = endOf(ID_BYTES);
  store<u32>(out, 16);
  v128.store(out, i8x16.narrow_i16x8_u(pairs(first), pairs(second)), 4);
  setEnd(ID_BYTES, out + 20);
  return true;
}

/** All ones for each byte that is a hexadecimal digit in lower case. */
function areDigits(bytes: v128): v128 {
  const decimal = i8x16.le_u(i8x16.sub(bytes, v128.load(ZEROS)), v128.load(NINES));
  const letter = i8x16.le_u(i8x16.sub(bytes, v128.load(SMALL_AS)), v128.load(FIVES));
  return v128.or(decimal, letter);
}

/** The values of eight pairs of digits, 16 bits each. */
function pairs(digits: v128): v128 {
  const decimal = i8x16.sub(digits, v128.load(ZEROS));
  const letter = i8x16.add(i8x16.sub(digits, v128.load(SMALL_AS)), v128.load(TENS));
  const values = v128.bitselect(decimal, letter, i8x16.le_u(decimal, v128.load(NINES)));
  // The digit that comes first is the lower byte.
  return v128.and(v128.or(i16x8.shl(values, 4), i16x8.shr_u(values, 8)), i16x8.splat(0xff));
}
