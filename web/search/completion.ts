import { IPV4_MAPPED } from '../../query/address.ts';
import { readAddress } from '../../query/cidr.ts';
import { DIMENSIONS, type Dimension } from '../../query/event-fields.ts';
import type { Facet } from '../../query/plan/search-result.ts';
import {
  clauseText,
  filterName,
  type LineClause,
  type LineSearch,
  parseSearchLine,
  printable,
  textOf,
  type Unit,
  valueText,
  wordAtEnd,
} from '../../query/search-line.ts';
import { bothSearches } from '../state/conditions.ts';
import { clauseFault } from './clause-fault.ts';

/** What is typed before the caret, as far as it can be completed. */
export interface TypedWord {
  /** Where it begins in the line. */
  readonly start: number;
  /** What of it stays as it stands: its sign, and of a filter all before the value that is completed. */
  readonly kept: string;
  /** The field of a filter; null for another word. */
  readonly field: Dimension | null;
  /** What is completed, without quotes and escapes. */
  readonly text: string;
  /** Whether values are looked for that have the text anywhere, and not at their begin. */
  readonly isAnywhere: boolean;
}

/** A word that can stand in place of the typed one. */
export interface Completion {
  /** As the line has it. */
  readonly text: string;
  /** The events that the search has with it; null where nobody has counted them. */
  readonly count: number | null;
  /** The name of its rule, if it has one. */
  readonly name?: string;
}

/** What the page has without a request. */
export interface KnownValues {
  readonly facets: readonly Facet[];
  /** The names of rules by their ids. */
  readonly ruleNames: ReadonlyMap<string, string>;
  /** Whether the counts of the facets are those of the search with one condition more. */
  readonly areCounted: boolean;
}

/** Completions that are shown. */
export const MOST_COMPLETIONS = 8;

/** Shorter words are in too many values. */
const LEAST_TEXT = 2;

/** Urls and user agents begin alike. */
const LONG_FIELDS: readonly Dimension[] = ['url', 'ua'];

/** The word that ends at the caret; null where it goes on behind it, or has what no completion keeps, such as a wildcard. */
export function typedWord(line: string, caret: number): TypedWord | null {
  if (/^\S/.test(line.slice(caret))) return null;
  const word = wordAtEnd(line.slice(0, caret));
  if (word === null) return /(^|\s)$/.test(line.slice(0, caret)) ? { start: caret, ...NOTHING_TYPED } : null;
  const { position: start, units } = word;
  const name = filterName(word);
  if (name === null) {
    const kept = isBare(units[0], '-') ? '-' : '';
    return { ...NOTHING_TYPED, start, kept, text: textOf(units.slice(kept.length)) };
  }
  const typed = units.slice(name.length);
  const [isContains, comma] = [isBare(typed[0], '~'), typed.findLastIndex((unit) => isBare(unit, ','))];
  if (typed.some((unit) => isBare(unit, '*')) || (isContains && comma !== -1)) return null;
  const kept = line.slice(start, comma === -1 ? start + name.length : (typed[comma]?.position ?? 0) + 1);
  const text = textOf(typed.slice(isContains ? 1 : comma + 1));
  // A star that was quoted is none of a wildcard.
  return { start, kept, field: name.field, text, isAnywhere: isContains || LONG_FIELDS.includes(name.field) || text.includes('*') };
}

const NOTHING_TYPED = { kept: '', field: null, text: '', isAnywhere: false } as const;

function isBare(unit: Unit | undefined, text: string): boolean {
  return unit?.text === text && !unit.isLiteral;
}

/** The condition whose events are to be counted: by value of the word's field, or of a whole address. Null where none are. */
export function askedClause({ field, text, isAnywhere }: TypedWord): LineClause | null {
  if (field === null) return readAddress(text) === null ? null : { field: 'ip', op: 'eq', value: [text] };
  const clause: LineClause =
    isAnywhere && text !== '' ? { field, op: 'contains', value: [text] } : { field, op: 'wildcard', value: [`${text}*`] };
  return clauseFault(field, clause.op, clause.value) === null ? clause : null;
}

/** The conditions beside the typed word: those that there are, and those of the rest of the line. Null where that is no search. */
export function otherConditions(before: LineSearch, line: string, { start }: TypedWord, caret: number): LineSearch | null {
  const rest = parseSearchLine(`${line.slice(0, start)} ${line.slice(caret)}`);
  return 'fault' in rest ? null : bothSearches(before, rest);
}

/** The values of a facet of the word's field. */
export function valueCompletions({ kept, field }: TypedWord, facet: Facet | undefined): readonly Completion[] {
  if (field === null || facet === undefined) return [];
  // Events without the field are counted as the empty text, which is another filter.
  const values = facet.values.filter(({ value }) => value !== '');
  return values.map(({ value, count }) => ({ text: printable(`${kept}${valueText(field, value)}`), count }));
}

/** Of those that were counted for a shorter word, the ones that fit the word as well. */
export function stillFitting(facet: Facet, { text, isAnywhere }: TypedWord): Facet {
  const typed = text.toLowerCase();
  const fits = (value: string): boolean => (isAnywhere ? value.includes(typed) : value.startsWith(typed));
  return { ...facet, values: facet.values.filter(({ value }) => fits(value.toLowerCase())) };
}

/** A whole address and its network first, then fields, then values and rules of the page. */
export function wordCompletions(word: TypedWord, addressCount: number | null, known: KnownValues): readonly Completion[] {
  const { kept, text } = word;
  const fields = DIMENSIONS.filter((field) => field.toLowerCase().startsWith(text.toLowerCase()));
  const addresses = addressCompletions(word, addressCount);
  const isNew = (one: Completion): boolean => !addresses.some((address) => address.text === one.text);
  return [
    ...addresses,
    ...fields.map((field) => ({ text: `${kept}${field}:`, count: null })),
    ...(text.length < LEAST_TEXT ? [] : knownCompletions(word, known).filter(isNew)),
  ].slice(0, text === '' ? DIMENSIONS.length : MOST_COMPLETIONS);
}

function addressCompletions({ kept, text }: TypedWord, count: number | null): readonly Completion[] {
  const address = readAddress(text);
  if (address === null) return [];
  return [
    { text: `${kept}ip:${text}`, count },
    { text: `${kept}ip:${networkText(address)}`, count: null },
  ];
}

/** The /24 of an IPv4 address, the /48 of another one. */
function networkText(address: bigint): string {
  const partsOf = (count: bigint, bits: bigint, end: bigint): readonly bigint[] =>
    Array.from({ length: Number(count) }, (_, index) => (address >> (end - bits * BigInt(index + 1))) & ((1n << bits) - 1n));
  if (address >> 32n === IPV4_MAPPED >> 32n) return `${partsOf(3n, 8n, 32n).join('.')}.0/24`;
  const groups = partsOf(3n, 16n, 128n).map((group) => group.toString(16));
  return `${groups.join(':')}::/48`;
}

/** The values and the names of rules that have the text somewhere, the most frequent first. */
function knownCompletions({ kept, text }: TypedWord, { facets, ruleNames, areCounted }: KnownValues): readonly Completion[] {
  const has = (value: string): boolean => value.toLowerCase().includes(text.toLowerCase());
  const values = facets.flatMap(({ field, values: ofField }) =>
    field === 'shieldZoneId' ? [] : ofField.map(({ value, count }) => ({ field, value, count })),
  );
  const ofRules = [...ruleNames.keys()]
    .filter((id) => !values.some(({ field, value }) => field === 'ruleId' && value === id))
    .map((value) => ({ field: 'ruleId' as const, value, count: -1 }));
  return [...values, ...ofRules]
    .map(({ field, value, count }) => ({ field, value, count, name: (field === 'ruleId' ? ruleNames.get(value) : undefined) ?? '' }))
    .filter(({ value, name }) => value !== '' && (has(value) || has(name)))
    .toSorted((a, b) => b.count - a.count)
    .map(({ field, value, count, name }) => ({
      text: printable(clauseText({ field, op: 'eq', value: [value] }, kept) ?? ''),
      count: areCounted && count !== -1 ? count : null,
      ...(name === '' ? {} : { name }),
    }));
}

/** The line with a completion in place of the word, and where the caret is then. */
export function completedLine(
  line: string,
  { start }: TypedWord,
  caret: number,
  text: string,
): { readonly line: string; readonly caret: number } {
  const behind = line.slice(caret);
  // The value of a field follows at once, another word behind a blank.
  const isField = /^-?\w+:$/.test(text);
  const before = `${line.slice(0, start)}${text}${isField || behind !== '' ? '' : ' '}`;
  return { line: `${before}${behind}`, caret: before.length };
}
