/**
 * The decimal digits of an autonomous system number without a leading `AS` in any case and without leading zeros (`AS0013335` is `13335`).
 * Null if the text is no number. `wire-event.ts` stores the `asn` of events so, and `request-predicate.ts` looks for it so.
 */
export function canonicalAsn(text: string): string | null {
  const digits = /^(?:as)?([0-9]+)$/i.exec(text)?.[1];
  return digits === undefined ? null : digits.replace(/^0+(?=[0-9])/, '');
}

/** The text without a leading `AS` before digits, in any case: what a part of such a number is looked for as (`AS133*` is `133*`). */
export function withoutAsPrefix(text: string): string {
  return text.replace(/^as(?=[0-9])/i, '');
}
