/** Below this length a loop over the characters is faster than a regular expression. */
const SHORT = 24;

/** Any but the characters that stand for themselves in a JSON string. */
const NEEDS_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** A text as a JSON string. Nearly every text of an event needs no escaping, and then this takes a fraction of what JSON.stringify takes. */
export function quoteJson(text: string): string {
  if (text.length > SHORT) {
    return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
  }
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= 0xd800) {
      return JSON.stringify(text);
    }
  }
  return `"${text}"`;
}

/** JSON on one line: a line end in JSON text can only stand between its tokens, where a blank means the same. */
export function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replaceAll(/[\n\r]/g, ' ') : json;
}

/** A member with a comma before it; nothing where there is no text. */
export function textMember(name: string, text: string | undefined): string {
  return text === undefined || text === '' ? '' : `,"${name}":${quoteJson(text)}`;
}

/** A member whose value is JSON already, with a comma before it; nothing where there is no value. */
export function rawMember(name: string, json: string | number | undefined): string {
  return json === undefined ? '' : `,"${name}":${json}`;
}

/** A member that is an object of `members`, each with a comma before it; nothing where there are none. */
export function objectMember(name: string, members: string): string {
  return members === '' ? '' : `,"${name}":{${members.slice(1)}}`;
}

/** A member that is a list of different texts; nothing where there are none. */
export function listMember(name: string, texts: readonly string[]): string {
  return texts.length === 0 ? '' : `,"${name}":[${texts.map(quoteJson).join(',')}]`;
}
