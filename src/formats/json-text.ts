/** Below this length a loop over the characters is faster than a regular expression. */
const SHORT = 24;

const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;

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
