import type { FeedEvent } from '../../store/event-store.ts';

/** Writes a text as a JSON string. */
export type Quote = (text: string) => string;

/** Below this length a loop over the characters is faster than a regular expression. */
const SHORT = 24;

/** Any but the characters that stand for themselves in a JSON string. */
const NEEDS_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** A text as a JSON string. Nearly every text of an event needs no escaping, and then this takes a fraction of what JSON.stringify takes. */
export function quoteJson(text: string): string {
  return standsForItself(text) ? `"${text}"` : JSON.stringify(text);
}

/** Only for texts that are known to stand for themselves in a JSON string. */
function quotePlain(text: string): string {
  return `"${text}"`;
}

/**
 * How to quote the texts of an event, whole or in parts. Each field is looked at once; a log without a backslash has no text in it that needs one.
 */
export function quoteOf({ logId, fields, logJson }: FeedEvent): Quote {
  if (logJson.includes('\\') || !standsForItself(logId)) {
    return quoteJson;
  }
  for (const name in fields) {
    const text = fields[name as keyof typeof fields];
    if (text !== undefined && !standsForItself(text)) {
      return quoteJson;
    }
  }
  return quotePlain;
}

/** Whether {@link quoteOf} found nothing to escape. */
export function isPlain(quote: Quote): boolean {
  return quote === quotePlain;
}

function standsForItself(text: string): boolean {
  if (text.length > SHORT) {
    return !NEEDS_ESCAPE.test(text);
  }
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= 0xd800) {
      return false;
    }
  }
  return true;
}

/** JSON on one line: a line end in JSON text can only stand between its tokens, where a blank means the same. */
export function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replaceAll(/[\n\r]/g, ' ') : json;
}
