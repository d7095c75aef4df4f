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

/** Items separated by commas, each trimmed and fulfilling `isItem`; at least one. */
export function listOf(isItem: (item: string) => boolean): ValueParser<readonly string[]> {
  return (text) => {
    const items = text.split(',').map((item) => item.trim());
    const wrong = items.find((item) => !isItem(item));
    return wrong === undefined ? accept(items) : refuse(`"${wrong}" is none`);
  };
}
