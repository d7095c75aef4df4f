import { statSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';
import { wholeNumberIn } from '../../query/integer-ranges.ts';

/** One environment variable; its flag is `flagOf(name)`. */
export interface ConfigVariable<Key extends string = string, Value = unknown> {
  readonly key: Key;
  readonly name: string;
  /** The text of an unset variable, parsed as any other. Null: the value is null. */
  readonly default: string | null;
  /** An environment variable that is set but empty counts as unset, unless this is true: then its parser decides. */
  readonly judgesEmpty?: true;
  /** Completes the sentence "allowed: …". */
  readonly allowed: string;
  readonly about: string;
  /** A secret's value is never shown, and may stand in a file. */
  readonly secret?: true;
  readonly parse: (text: string) => ParsedValue<Value>;
}

/** The value of a text, or the reason why it is refused. A reason of null means that the row's `allowed` says enough. */
export type ParsedValue<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'refused'; readonly why: string | null };

type ValueParser<T> = (text: string) => ParsedValue<T>;

/** The values of a table of settings by their keys; null where one has no default and is not set. */
export type ValuesOf<Table extends readonly ConfigVariable[]> = {
  readonly [Row in Table[number] as Row['key']]:
    | (Row['parse'] extends ValueParser<infer Value> ? Value : never)
    | (Row['default'] extends null ? null : never);
};

export function accept<T>(value: T): ParsedValue<T> {
  return { kind: 'value', value };
}

/** `why` completes the sentence "X is not allowed: …". It must hold no secret. */
export function refuse(why: string | null = null): ParsedValue<never> {
  return { kind: 'refused', why };
}

/**
 * Returns the part of a row for a whole number from `min` to `max`. The value is the number times `unit`; `note` follows the text of what
 * is allowed.
 */
export function wholeNumberSetting(
  min: number,
  max: number,
  { unit = 1, note = '' } = {},
): Pick<ConfigVariable<string, number>, 'allowed' | 'parse'> {
  return {
    allowed: `a whole number ${min}..${max}${note}`,
    parse: (text) => {
      const value = wholeNumberIn(text, min, max);
      return value === null ? refuse() : accept(Number(value) * unit);
    },
  };
}

export function oneOfAnyCase<T extends string>(values: readonly T[]): ValueParser<T> {
  return (text) => {
    const found = values.find((value) => value === text.toLowerCase());
    return found === undefined ? refuse() : accept(found);
  };
}

export function yesOrNo(text: string): ParsedValue<boolean> {
  if (text === 'true' || text === '1') return accept(true);
  return text === 'false' || text === '0' ? accept(false) : refuse();
}

/** Any text but blanks. */
export function someText(text: string): ParsedValue<string> {
  return text.trim() === '' ? refuse() : accept(text);
}

/** The path of a file that can be read several times, which a pipe cannot. */
export function readableFile(path: string): ParsedValue<string> {
  try {
    return statSync(path).isFile() ? accept(path) : refuse('it is no file');
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw error;
    return refuse(getSystemErrorMessage(errno));
  }
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };
const CLOSERS = new Set(Object.values(CLOSING));

/** Splits at commas, except inside the braces, parentheses and brackets of a glob. Null where these do not pair up. */
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
 * One or more items separated by commas, each trimmed and fulfilling `isItem`. A comma inside `{a,b}`, `(a,b)` or `[a,b]` separates
 * nothing.
 */
export function commaSeparated(isItem: (item: string) => boolean): ValueParser<readonly string[]> {
  return (text) => {
    const items = splitList(text);
    if (items === null) return refuse('its braces, brackets or parentheses do not pair up');
    const wrong = items.find((item) => !isItem(item));
    return wrong === undefined ? accept(items) : refuse(`"${wrong}" is none`);
  };
}
