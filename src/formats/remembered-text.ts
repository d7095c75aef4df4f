/** `write` with its texts kept for as long as what they were written of is. */
export function remembered<Subject extends object>(write: (subject: Subject) => string): (subject: Subject) => string {
  const texts = new WeakMap<Subject, string>();
  return (subject) => {
    const known = texts.get(subject);
    if (known !== undefined) {
      return known;
    }
    const text = inOnePiece(write(subject));
    texts.set(subject, text);
    return text;
  };
}

/**
 * V8 keeps a text that was put together as the tree of its parts, and whoever reads a text that it became part of goes through them every
 * time.
 */
function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}
