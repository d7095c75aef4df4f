/**
 * The decimal digits of an autonomous system number: a leading `AS` in any case and leading zeros are dropped (`AS0013335` is `13335`).
 * Null where the text is no number.
 */
export function canonicalAsn(text: string): string | null {
  const digits = /^(?:as)?([0-9]+)$/i.exec(text)?.[1];
  return digits === undefined ? null : digits.replace(/^0+(?=[0-9])/, '');
}
