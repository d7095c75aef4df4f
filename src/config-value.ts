/** What became of a configuration text: its value, or why it is refused (null: the row's `allowed` text says all). */
export type ParsedValue<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'refused'; readonly why: string | null };

export type ValueParser<T> = (text: string) => ParsedValue<T>;

export function accept<T>(value: T): ParsedValue<T> {
  return { kind: 'value', value };
}

/** `why` completes the sentence "X is not allowed: …"; it must hold no secret. */
export function refuse(why: string | null = null): ParsedValue<never> {
  return { kind: 'refused', why };
}

/** Decimal digits only: `Number` alone would also take `0x10`, `1e3` and blanks. */
export function wholeNumber(least: number, most: number): ValueParser<number> {
  return (text) => {
    if (!/^\d{1,15}$/.test(text)) return refuse();
    const value = Number(text);
    return value >= least && value <= most ? accept(value) : refuse();
  };
}

export function oneOf<T extends string>(values: readonly T[]): ValueParser<T> {
  return (text) => {
    const found = values.find((value) => value === text.toLowerCase());
    return found === undefined ? refuse() : accept(found);
  };
}

export function yesOrNo(text: string): ParsedValue<boolean> {
  if (text === 'true' || text === '1') return accept(true);
  return text === 'false' || text === '0' ? accept(false) : refuse();
}

/** Any text that is not only blanks. */
export function someText(text: string): ParsedValue<string> {
  return text.trim() === '' ? refuse() : accept(text);
}

/** The parts between commas, but for those inside the braces and parentheses of a glob; null where these do not pair up. */
function splitList(text: string): string[] | null {
  const items = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{' || character === '(') depth += 1;
    if (character === '}' || character === ')') depth -= 1;
    if (depth < 0) return null;
    if (character === ',' && depth === 0) items.push('');
    else items[items.length - 1] += character;
  }
  return depth === 0 ? items.map((item) => item.trim()) : null;
}

/** Items separated by commas, each trimmed and fulfilling `isItem`; at least one. A comma inside `{a,b}` or `(a,b)` separates nothing. */
export function listOf(isItem: (item: string) => boolean): ValueParser<readonly string[]> {
  return (text) => {
    const items = splitList(text);
    if (items === null) return refuse('its braces or parentheses do not pair up');
    const wrong = items.find((item) => !isItem(item));
    return wrong === undefined ? accept(items) : refuse(`"${wrong}" is none`);
  };
}
