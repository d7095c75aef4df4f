import { BACKSLASH } from './json-bytes.ts';

/** What {@link skipEscape} returns where the escape is none of JSON's. */
const NO_ESCAPE = -1;
/**
 * What {@link skipEscape} returns for half a surrogate pair. JSON's grammar lets it pass, but no UTF-8 text can hold it, and the columns
 * are UTF-8.
 */
export const LONE_SURROGATE = -2;

const UNICODE_ESCAPE = 0x75;

const IS_SHORT_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) => ('"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0));

const NO_HEX = 0xff;
const HEX_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? NO_HEX : value;
});

/** `at` is behind the backslash. The index behind the escape, of a surrogate pair behind both halves; or one of the two above. */
export function skipEscape(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]!;
  if (byte !== UNICODE_ESCAPE) {
    return IS_SHORT_ESCAPE[byte] === 1 ? at + 1 : NO_ESCAPE;
  }
  const unit = codeUnit(bytes, at + 1);
  if (unit < 0) {
    return NO_ESCAPE;
  }
  if (unit < 0xd800 || unit > 0xdfff) {
    return at + 5;
  }
  const isHigh = unit < 0xdc00 && bytes[at + 5] === BACKSLASH && bytes[at + 6] === UNICODE_ESCAPE;
  const low = isHigh ? codeUnit(bytes, at + 7) : -1;
  return low >= 0xdc00 && low <= 0xdfff ? at + 11 : LONE_SURROGATE;
}

/** The UTF-16 code unit written as four hexadecimal digits, or -1. */
function codeUnit(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let index = at; index < at + 4; index++) {
    const digit = HEX_VALUE[bytes[index]!]!;
    if (digit === NO_HEX) {
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}
