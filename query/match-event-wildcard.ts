/**
 * Whether `text` is made of the `parts` in their order with anything in between, anchored at both ends; both are folded already. Each part is put
 * at the first place where it fits: if the rest does not fit behind that, it does not fit behind a later one either. So nothing is ever tried
 * twice, however many stars there are (a regular expression of a dozen may take for ever).
 */
export function matchesParts(text: string, parts: readonly string[]): boolean {
  const [first = ''] = parts;
  if (parts.length === 1) {
    return text === first;
  }
  const last = parts.at(-1) ?? '';
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) {
    return false;
  }
  let place = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, place);
    if (found === -1 || found + part.length > end) {
      return false;
    }
    place = found + part.length;
  }
  return true;
}
