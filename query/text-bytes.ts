const encoder = new TextEncoder();

/** The bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}

/** Bytes (UTF-8) of a field's text that are stored, searched and answered. The log of the event has all of a longer one. */
export const STORED_TEXT_BYTES = 64 * 1024;

/** UTF-8 bytes of a UTF-16 unit at most. */
const MAX_UNIT_BYTES = 3;

let room: Uint8Array | undefined;

/** The part of a text that is stored: its first bytes, without the beginning of a character that would be cut in two. */
export function storedText(text: string): string {
  if (text.length * MAX_UNIT_BYTES <= STORED_TEXT_BYTES) return text;
  room ??= new Uint8Array(STORED_TEXT_BYTES);
  return text.slice(0, encoder.encodeInto(text, room).read);
}
