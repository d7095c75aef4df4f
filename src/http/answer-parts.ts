/** A part of an answer: a text, or bytes as they are sent. */
export type AnswerPart = string | Uint8Array;

/** The bytes of the parts, one after the other. */
export function joinParts(parts: Iterable<AnswerPart>): Buffer {
  return Buffer.concat(Array.from(parts, (part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}
