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

const MS_PER_HOUR = 3_600_000;

/** A whole number of hours; the value is in milliseconds. */
export function hoursInMs(least: number, most: number): ValueParser<number> {
  return times(wholeNumber(least, most), MS_PER_HOUR);
}

export function daysInMs(least: number, most: number): ValueParser<number> {
  return times(wholeNumber(least, most), 24 * MS_PER_HOUR);
}

function times(count: ValueParser<number>, unit: number): ValueParser<number> {
  return (text) => {
    const parsed = count(text);
    return parsed.kind === 'value' ? accept(parsed.value * unit) : parsed;
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

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };
const CLOSERS = new Set(Object.values(CLOSING));

/** The parts between commas, but for those inside the braces, parentheses and brackets of a glob; null where these do not pair up. */
function splitList(text: string): string[] | null {
  const items = [''];
  const open: string[] = [];
  for (const character of text) {
    const closing = CLOSING[character];
    if (closing !== undefined) open.push(closing);
    if (CLOSERS.has(character) && open.pop() !== character) return null;
    if (character === ',' && open.length === 0) items.push('');
    else items[items.length - 1] += character;
  }
  return open.length === 0 ? items.map((item) => item.trim()) : null;
}

/**
 * Items separated by commas, each trimmed and fulfilling `isItem`; at least one. A comma inside `{a,b}`, `(a,b)` or `[a,b]` separates
 * nothing.
 */
export function listOf(isItem: (item: string) => boolean): ValueParser<readonly string[]> {
  return (text) => {
    const items = splitList(text);
    if (items === null) return refuse('its braces, brackets or parentheses do not pair up');
    const wrong = items.find((item) => !isItem(item));
    return wrong === undefined ? accept(items) : refuse(`"${wrong}" is none`);
  };
}
