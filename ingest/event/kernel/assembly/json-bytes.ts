/** The bytes that JSON's grammar (RFC 8259) is made of. */
export const QUOTE: u32 = 0x22;
export const BACKSLASH: u32 = 0x5c;
export const COMMA: u32 = 0x2c;
export const COLON: u32 = 0x3a;
export const OPEN_BRACE: u32 = 0x7b;
export const CLOSE_BRACE: u32 = 0x7d;
export const OPEN_BRACKET: u32 = 0x5b;
export const CLOSE_BRACKET: u32 = 0x5d;
export const MINUS: u32 = 0x2d;
export const DOT: u32 = 0x2e;
export const DIGIT_0: u32 = 0x30;
export const SPACE: u32 = 0x20;
export const NEWLINE: u32 = 0x0a;
export const CARRIAGE_RETURN: u32 = 0x0d;

/** The value of a decimal digit; more than 9 where the byte is none. */
export function digitOf(byte: u32): u32 {
  return byte - DIGIT_0;
}
