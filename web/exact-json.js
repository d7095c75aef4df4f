// JSON with exact numbers, so that an identifier of 64 bits in a log is shown as it was sent.

/** Parses JSON. A number that JavaScript would round becomes raw JSON, which only `JSON.stringify` can read. */
export function parseExactly(text) {
  return JSON.parse(text, (_key, value, context) => {
    const digits = typeof value === 'number' ? context?.source : undefined;
    return digits === undefined || digits === String(value) || JSON.rawJSON === undefined ? value : JSON.rawJSON(digits);
  });
}
