/** What reading a JSON text may cost; its bytes are limited beside it. */
export const JSON_COST = {
  /** Values: objects, lists, and what stands in them. 5,000 DNS records with every field have 105,000. */
  values: 200_000,
  /** Keys of one object. */
  keys: 1_000,
  /** Objects and lists inside one another. */
  depth: 128,
} as const;

const code = (sign: string): number => sign.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA] = [code('"'), code('\\'), code(',')];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [code('{'), code('}'), code('['), code(']')];

/** Where the string that begins at `start` ends: the offset of its closing quote, or the length of the text where it has none. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/**
 * What makes a JSON text too costly to be read on the main thread, as the end of a sentence that says what is allowed; null where nothing does.
 * It looks at the signs outside of strings only: whether the text is JSON at all is for the parser to say.
 */
export function tooCostly(json: Uint8Array): string | null {
  /** The keys of each open object; lists count none. */
  const open: number[] = [];
  let values = 1;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case COMMA: {
        values += 1;
        const keys = (open.at(-1) ?? Number.NaN) + 1;
        if (keys > JSON_COST.keys) return `more than ${JSON_COST.keys} keys in one object; allowed: up to ${JSON_COST.keys}`;
        if (open.length > 0) open[open.length - 1] = keys;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        values += 1;
        open.push(json[at] === OPEN_BRACE ? 1 : Number.NaN);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        break;
    }
    if (values > JSON_COST.values) return `more than ${JSON_COST.values} values; allowed: up to ${JSON_COST.values}`;
    if (open.length > JSON_COST.depth) {
      return `more than ${JSON_COST.depth} objects and lists inside one another; allowed: up to ${JSON_COST.depth}`;
    }
  }
  return null;
}
