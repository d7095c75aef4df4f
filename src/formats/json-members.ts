import type { Quote } from './json-text.ts';

/** `members` and one more, whose key is given as `,"name":`. Nothing is added where there is no text or an empty one. */
export function withText(members: string, key: string, text: string | undefined, quote: Quote): string {
  return text === undefined || text === '' ? members : withJson(members, key, quote(text));
}

/** `members` and one more, whose value is JSON already. Nothing is added where there is no value. */
export function withJson(members: string, key: string, json: string | number | undefined): string {
  if (json === undefined) {
    return members;
  }
  return members === '' ? key.slice(1) + json : members + key + json;
}

/** `members` and one more that is an object; nothing where that would be empty. */
export function withObject(members: string, key: string, inner: string): string {
  return inner === '' ? members : withJson(members, key, `{${inner}}`);
}
