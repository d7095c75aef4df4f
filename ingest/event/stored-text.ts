import { STORED_TEXT_BYTES } from '../../query/text-bytes.ts';

const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;
const LONGEST_CHARACTER = 4;

/** Up to `maxBytes` from the start, without the beginning of a UTF-8 character that would be cut in two. */
export function textStart(bytes: Uint8Array, maxBytes: number): Uint8Array {
  let end = Math.min(maxBytes, bytes.length);
  while (end < bytes.length && end > maxBytes - LONGEST_CHARACTER && (bytes[end]! & CONTINUATION_MASK) === CONTINUATION) {
    end -= 1;
  }
  return bytes.subarray(0, end);
}

/** The part of a text that is stored and searched: `storedText` in `query/text-bytes.ts` says the same of the values of a request. */
export function storedBytes(text: Buffer): Buffer {
  return text.subarray(0, textStart(text, STORED_TEXT_BYTES).length);
}
