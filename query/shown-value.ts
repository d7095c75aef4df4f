import { JsonNumber, type JsonValue } from './exact-json.ts';

const LONGEST_SHOWN = 80;

/** At most 80 UTF-16 units of a text, with `…` where something was left out; never half a surrogate pair. */
export function cutText(text: string): string {
  if (text.length <= LONGEST_SHOWN) {
    return text;
  }
  const endsInPair = text.charCodeAt(LONGEST_SHOWN - 1) >>> 10 === 0xd800 >>> 10;
  return `${text.slice(0, endsInPair ? LONGEST_SHOWN - 1 : LONGEST_SHOWN)}…`;
}

/** A value as error messages quote it: JSON, cut to a sane length; arrays and objects are only named. */
export function shownValue(value: JsonValue | undefined): string {
  if (value === undefined) {
    return 'nothing';
  }
  if (typeof value === 'string') {
    return JSON.stringify(cutText(value));
  }
  if (value instanceof JsonNumber) {
    return cutText(value.source);
  }
  if (Array.isArray(value)) {
    return 'an array';
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
