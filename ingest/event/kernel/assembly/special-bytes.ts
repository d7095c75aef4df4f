import { skipCharacter } from './characters';
import { skipEscape } from './escapes';
import { BACKSLASH, QUOTE, SPACE } from './json-bytes';

/** Bits for the bytes of the block under way, and for those of the next one, that are quotes in escapes. The last block of an event leaves none. */
let escapedHere: u64 = 0;
let escapedNext: u64 = 0;

/** Goes on to the next block: the quotes in it that belong to an escape which began in the block before. */
export function nextEscapedQuotes(): u64 {
  escapedHere = escapedNext;
  escapedNext = 0;
  return escapedHere;
}

/**
 * Checks escapes and characters of more than one byte in the 64 bytes from `block` on, of which `specials` has a bit for each backslash, control
 * character and byte that is not ASCII. What is before `checked` belongs to one that was checked already. The place behind the last one, or 0 where
 * one is not taken.
 */
export function checkSpecials(block: usize, specials: u64, checked: usize): usize {
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
    const place = at + 1 - block;
    if (place < 64) {
      escapedHere |= (<u64>1) << (<u64>place);
    } else {
      escapedNext = 1;
    }
  }
  return skipEscape(at + 1);
}

/** The quotes in escapes that were found in the block so far. */
export function escapedQuotes(): u64 {
  return escapedHere;
}
