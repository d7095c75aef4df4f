const [QUOTE, BACKSLASH] = ['"'.charCodeAt(0), '\\'.charCodeAt(0)];

/** Where the string that begins at `start` ends: the place of its closing quote. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
}

/**
 * The first key that an object of a JSON text, known to be valid, has twice; null where there is none. Parsers differ in which of the two they
 * take, so that what was checked here could be another value than the one that an upstream reads.
 */
export function repeatedKey(json: string): string | null {
  /** The keys of the objects that the place is in, null for lists; a key is next after `{` and after a comma in an object. */
  const open: (Set<string> | null)[] = [];
  let keyIsNext = false;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case '{':
        open.push(new Set());
        keyIsNext = true;
        break;
      case '[':
        open.push(null);
        keyIsNext = false;
        break;
      case '}':
      case ']':
        open.pop();
        keyIsNext = false;
        break;
      case ',':
        keyIsNext = open.at(-1) !== null;
        break;
      case '"': {
        const end = endOfString(json, at);
        if (keyIsNext) {
          const key = JSON.parse(json.slice(at, end + 1)) as string;
          const keys = open.at(-1);
          if (keys?.has(key)) return key;
          keys?.add(key);
        }
        keyIsNext = false;
        at = end;
      }
    }
  }
  return null;
}
