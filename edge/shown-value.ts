const SHOWN_LENGTH = 100;
/** Deeper values are left out, because a caller can nest values deeper than the stack allows. */
const SHOWN_DEPTH = 8;

/** A text, cut to `length` characters. */
export function cut(text: string, length = SHOWN_LENGTH): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}

function* members(value: object): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) for (const item of value) yield ['', item];
  else for (const name of Object.keys(value)) yield [`${JSON.stringify(name)}:`, (value as Readonly<Record<string, unknown>>)[name]];
}

/** A number of JSON. The last digits of one past 2^53 are not those that the caller sent. */
function writtenNumber(value: number): string {
  return Number.isFinite(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER ? `about ${value}` : String(value);
}

/** The text of an object that stands for a value; null for all others. */
type TextOf = (value: object) => string | null;

/** JSON of up to about `room` characters. */
function written(value: unknown, room: number, depth: number, textOf: TextOf): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room + 1));
  if (typeof value === 'number') return writtenNumber(value);
  if (typeof value !== 'object' || value === null) return String(value ?? (value === null ? 'null' : 'nothing'));
  const own = textOf(value);
  if (own !== null) return own;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (depth === SHOWN_DEPTH) return `${open}…${close}`;
  let text = open;
  for (const [name, item] of members(value)) {
    if (text.length > room) return text;
    text += `${text === open ? '' : ','}${name}${written(item, room - text.length, depth + 1, textOf)}`;
  }
  return `${text}${close}`;
}

/** Any value as JSON for a message, cut where it is long or deep. `textOf` may write objects in its own way. */
export function shown(value: unknown, length = SHOWN_LENGTH, textOf: TextOf = () => null): string {
  return cut(written(value, length, 0, textOf), length);
}
