import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isBlank,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../../ingest/event/json-bytes.ts';

/** A member of an object, or an element of an array, whose name is null. The value keeps its bytes, so that no number loses digits. */
export interface JsonPart {
  readonly name: string | null;
  readonly value: Buffer;
}

/** A text that should be a JSON object or array is none. */
export class NoJson extends Error {
  override readonly name = 'NoJson';
}

/**
 * The parts of a JSON object or array, in their order. Brackets and strings are followed, and nothing else in a value is checked. Throws
 * NoJson.
 */
export function jsonParts(json: Buffer): readonly JsonPart[] {
  let at = afterBlanks(json, 0);
  const isObject = json[at] === OPEN_BRACE;
  if (!isObject && json[at] !== OPEN_BRACKET) throw new NoJson('neither an object nor an array');
  const close = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  const parts: JsonPart[] = [];
  at = afterBlanks(json, at + 1);
  if (json[at] === close) return parts;
  for (;;) {
    let name: string | null = null;
    if (isObject) {
      const end = afterString(json, at);
      name = JSON.parse(json.toString('utf8', at, end)) as string;
      at = afterBlanks(json, end);
      if (json[at] !== COLON) throw new NoJson(`no colon at byte ${at}`);
      at = afterBlanks(json, at + 1);
    }
    const end = afterValue(json, at);
    parts.push({ name, value: json.subarray(at, endOfValue(json, at, end)) });
    if (json[end] === close) return parts;
    at = afterBlanks(json, end + 1);
  }
}

function afterBlanks(json: Buffer, from: number): number {
  let at = from;
  while (isBlank(json[at])) at += 1;
  return at;
}

/** The index behind the string that begins at `from`. */
function afterString(json: Buffer, from: number): number {
  if (json[from] !== QUOTE) throw new NoJson(`no string at byte ${from}`);
  for (let at = from + 1; at < json.length; at += 1) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at + 1;
  }
  throw new NoJson('a string does not end');
}

/** The index of the comma or bracket behind the value that begins at `from`. */
function afterValue(json: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; ) {
    const byte = json[at];
    const closes = byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    if (depth === 0 && (closes || byte === COMMA)) return at;
    if (closes) depth -= 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    at = byte === QUOTE ? afterString(json, at) : at + 1;
  }
  throw new NoJson('a value does not end');
}

function endOfValue(json: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && isBlank(json[end - 1])) end -= 1;
  return end;
}

/** A row or group by the names of its members; a member of a nested object has a name such as `fields.ip`. Values are JSON. */
export type RawRecord = ReadonlyMap<string, Buffer>;

/** Reads a row or group whose members `nested` are objects. Throws NoJson. */
export function rawRecord(json: Buffer, nested: readonly string[]): RawRecord {
  const members = new Map<string, Buffer>();
  for (const { name, value } of jsonParts(json)) {
    if (name !== null && nested.includes(name)) {
      for (const inner of jsonParts(value)) members.set(`${name}.${inner.name}`, inner.value);
    } else {
      members.set(String(name), value);
    }
  }
  return members;
}
