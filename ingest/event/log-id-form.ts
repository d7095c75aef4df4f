const HEX_DIGITS = 32;
const UUID_BYTES = 36;
/** The text of an id that is a UUID. */
export const UUID_TEXT = Buffer.from('-');

const NO_DIGIT = 0xff;
const DIGIT_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => {
  const index = '0123456789abcdef'.indexOf(String.fromCharCode(byte));
  return index < 0 ? NO_DIGIT : index;
});
const DASH = 0x2d;
const DASH_PLACES = [8, 13, 18, 23];

export type LogIdForm = 'digits' | 'uuid' | 'text';

/**
 * What the id in `text[start, end)` is: 32 hexadecimal digits in lower case, a UUID in lower case, or any other text. The 16 bytes that the
 * digits of the first two stand for are written to `bytes`.
 */
export function readLogId(text: Uint8Array, start: number, end: number, bytes: Uint8Array): LogIdForm {
  const length = end - start;
  const isUuid = length === UUID_BYTES && DASH_PLACES.every((index) => text[start + index] === DASH);
  if (!isUuid && length !== HEX_DIGITS) {
    return 'text';
  }
  let at = start;
  for (let byte = 0; byte < bytes.length; byte++) {
    if (isUuid && DASH_PLACES.includes(at - start)) {
      at++;
    }
    const [high, low] = [DIGIT_VALUE[text[at]!]!, DIGIT_VALUE[text[at + 1]!]!];
    if ((high | low) > 0xf) {
      return 'text';
    }
    bytes[byte] = high * 16 + low;
    at += 2;
  }
  return isUuid ? 'uuid' : 'digits';
}
