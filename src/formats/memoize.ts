/** Longer texts rarely come twice, so they are not kept. */
const MAX_KEY_LENGTH = 256;

/**
 * `compute` with its results kept by text, for texts that come often, such as hosts and addresses. A full cache of `capacity` results is
 * emptied, which costs less than an LRU order. `compute` must not return undefined.
 */
export function memoizeByText<Value, Key extends string = string>(capacity: number, compute: (text: Key) => Value): (text: Key) => Value {
  const results = new Map<Key, Value>();
  return (text) => {
    const kept = results.get(text);
    if (kept !== undefined) {
      return kept;
    }
    if (text.length > MAX_KEY_LENGTH) {
      return compute(text);
    }
    const copy = copyOf(text);
    const result = compute(copy);
    if (results.size >= capacity) {
      results.clear();
    }
    results.set(copy, result);
    return result;
  };
}

/** V8 keeps a part of a text as a view of all of it. Kept, the host of a long URL would hold the whole URL in memory. */
function copyOf<Key extends string>(text: Key): Key {
  return JSON.parse(JSON.stringify(text)) as Key;
}

/** `write` with its texts kept by object, for as long as the object lives. */
export function memoizeByObject<Subject extends object>(write: (subject: Subject) => string): (subject: Subject) => string {
  const texts = new WeakMap<Subject, string>();
  return (subject) => {
    const kept = texts.get(subject);
    if (kept !== undefined) {
      return kept;
    }
    const text = flatText(write(subject));
    texts.set(subject, text);
    return text;
  };
}

/** V8 keeps a concatenated text as a tree of its parts, which every reader would walk again. A round trip through bytes flattens it. */
function flatText(text: string): string {
  return Buffer.from(text).toString();
}
