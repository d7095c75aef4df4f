/** Limits for reading a JSON text. Its bytes are limited elsewhere. */
export interface JsonCost {
  /** Objects, lists, and the values in them. */
  readonly values: number;
  /** Keys of one object. */
  readonly keys: number;
  /** Objects and lists inside one another. */
  readonly depth: number;
}

/** 5,000 DNS records with every field have 105,000 values. */
export const JSON_COST: JsonCost = { values: 200_000, keys: 1_000, depth: 128 };

export interface JsonFindings {
  /** The end of a sentence that says which limit is exceeded and what is allowed; null where none is. */
  readonly tooCostly: string | null;
  /** The first key that an object has twice; null where none is found before a limit is exceeded. */
  readonly repeatedKey: string | null;
}

/** Up to so many keys of an object are compared one by one, because a set costs more than that. */
const FEW_KEYS = 16;

const code = (sign: string): number => sign.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA] = [code('"'), code('\\'), code(',')];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [code('{'), code('}'), code('['), code(']')];

/** So many characters of a string are looked at one by one first, because a call of the engine's search costs as much. */
const STRIDE = 64;

/** Whether the character at `at`, inside a string, has an even number of backslashes before it. */
function isUnescaped(json: string, at: number): boolean {
  let before = at - 1;
  while (json.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

/** The index of the closing quote of the string that begins at `start`, or the length of the text where there is none. */
export function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length) {
    for (const stop = at + STRIDE; at < stop; at += 1) {
      const sign = json.charCodeAt(at);
      if (sign === QUOTE) return at;
      if (sign === BACKSLASH) at += 1;
    }
    const quote = json.indexOf('"', at);
    if (quote === -1) break;
    if (isUnescaped(json, quote)) return quote;
    at = quote + 1;
  }
  return json.length;
}

/** The key between two quotes; null where it is no JSON string, which the parser reports. */
function keyBetween(json: string, start: number, end: number): string | null {
  const written = json.slice(start + 1, end);
  if (!written.includes('\\')) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return null;
  }
}

/** An object or a list that is open. */
interface Open {
  readonly isObject: boolean;
  commas: number;
  readonly few: string[];
  many: Set<string> | null;
}

/** Adds a key. Returns whether it was there already. */
function addKey(open: Open, key: string): boolean {
  if (open.many?.has(key) ?? open.few.includes(key)) return true;
  if (open.many !== null) open.many.add(key);
  else if (open.few.push(key) > FEW_KEYS) open.many = new Set(open.few);
  return false;
}

/** The end of a sentence that says which limit is exceeded and what is allowed; null where none is. */
function excess(counted: JsonCost, allowed: JsonCost): string | null {
  if (counted.keys > allowed.keys) return `more than ${allowed.keys} keys in one object; allowed: up to ${allowed.keys}`;
  if (counted.values > allowed.values) return `more than ${allowed.values} values; allowed: up to ${allowed.values}`;
  if (counted.depth > allowed.depth)
    return `more than ${allowed.depth} objects and lists inside one another; allowed: up to ${allowed.depth}`;
  return null;
}

/**
 * Scans a JSON text once; the parser decides whether it is JSON. A key that is there twice is reported because parsers differ in which of
 * the two they take: the upstream could read another value than the one that was checked.
 */
export function scanJson(json: string, allowed: JsonCost): JsonFindings {
  const stack: Open[] = [];
  let innermost: Open | undefined;
  let repeatedKey: string | null = null;
  let keyIsNext = false;
  let values = 1;

  /** Returns the index of the string's end. */
  function passString(start: number): number {
    const end = endOfString(json, start);
    if (keyIsNext && repeatedKey === null && innermost !== undefined) {
      const key = keyBetween(json, start, end);
      if (key !== null && addKey(innermost, key)) repeatedKey = key;
    }
    keyIsNext = false;
    return end;
  }

  function open(isObject: boolean): void {
    values += 1;
    keyIsNext = isObject;
    innermost = { isObject, commas: 0, few: [], many: null };
    stack.push(innermost);
  }

  function close(): void {
    stack.pop();
    innermost = stack.at(-1);
    keyIsNext = false;
  }

  function passComma(): void {
    values += 1;
    keyIsNext = innermost?.isObject ?? false;
    if (innermost !== undefined) innermost.commas += 1;
  }

  const counted = (): JsonCost => ({ values, keys: keyIsNext ? (innermost?.commas ?? 0) + 1 : 0, depth: stack.length });

  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === QUOTE) at = passString(at);
    else if (sign === CLOSE_BRACE || sign === CLOSE_BRACKET) close();
    else if (sign === OPEN_BRACE || sign === OPEN_BRACKET || sign === COMMA) {
      if (sign === COMMA) passComma();
      else open(sign === OPEN_BRACE);
      const tooCostly = excess(counted(), allowed);
      if (tooCostly !== null) return { tooCostly, repeatedKey };
    }
  }
  return { tooCostly: null, repeatedKey };
}
