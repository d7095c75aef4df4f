import { CASE_IGNORED_FIELDS, DIMENSIONS, type Dimension } from './event-fields.ts';
import type { FilterOp } from './filter-ops.ts';
import { queryOfTerms, queryTerms, type TermFault, termFault } from './query-terms.ts';

/** A clause as requests have it. */
export interface LineClause {
  readonly field: Dimension;
  readonly op: FilterOp;
  readonly value: readonly string[];
}

/** The conditions of a request that a search line says. */
export interface LineSearch {
  readonly query: string;
  readonly filters: readonly LineClause[];
  readonly exclude: readonly LineClause[];
}

/** Why a line says no search. */
export interface LineFault {
  /** One sentence that begins with the position, as in `character 5: …`, counted from 1. */
  readonly fault: string;
  /** The index in the line, in UTF-16 units. */
  readonly position: number;
}

/** One character of a word, or the empty text of an opening quote. Quoted and escaped ones are literal. */
export interface Unit {
  readonly text: string;
  readonly isLiteral: boolean;
  readonly position: number;
}

/**
 * What terminals and the page show as escapes such as `\u001b`, which a line reads as the character again: controls (C0, DEL, C1), line and
 * paragraph separators, marks that change the direction of text, and what no screen shows (U+00AD, U+200B, U+2060, U+FEFF). The joiners
 * U+200C and U+200D are none of them, because Persian and emoji need them. The inside of a character class of single UTF-16 units.
 */
export const SHOWN_AS_ESCAPES = '\\p{Cc}\\u00ad\\u2028\\u2029\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060\\u2066-\\u2069\\ufeff';

const ESCAPED = new RegExp(`[${SHOWN_AS_ESCAPES}]`, 'gu');

/** Makes foreign text, such as a value or a file name, safe to be shown: what is shown as an escape becomes one (`\u001b`). */
export function printable(text: string): string {
  return text.replaceAll(ESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What stands between two blanks of a line. */
export interface Word {
  readonly units: readonly Unit[];
  readonly position: number;
  /** Behind the last character. */
  readonly end: number;
}

class Refused extends Error {
  readonly position: number;

  constructor(position: number, message: string) {
    super(`character ${position + 1}: ${message}`);
    this.position = position;
  }
}

/**
 * Reads a search line, which the page and the terminal have: words between blanks (`\s` of JavaScript). `"…"` keeps blanks, and `\` makes
 * the next character literal, but `\u001b` is the control that terminals show so. A word is a filter if one of the dimensions, in any case,
 * stands before its first `:`, neither quoted: `f:v` is `eq`, `f:a,b` is `in`, a `*` makes it a `wildcard`, `/n` at the end of an address a
 * `cidr`, and a `~` behind the `:` a `contains`; a `-` before it excludes. What is quoted is literal. Every other word is a term of the
 * query.
 */
export function parseSearchLine(line: string): LineSearch | LineFault {
  try {
    return searchOf(wordsOf(line));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { fault: error.message, position: error.position };
  }
}

/** The words of a line without faults. */
export function wordsOf(line: string): readonly Word[] {
  const words: Word[] = [];
  let position = 0;
  while (position < line.length) {
    if (isBlank(line[position] ?? '')) {
      position += 1;
    } else {
      const word = wordAt(line, position);
      words.push(word);
      position = word.end;
    }
  }
  return words;
}

/** The word with which a line ends that is being typed: its quote may be open. Null behind a blank, and behind a `\` that is last. */
export function wordAtEnd(line: string): Word | null {
  if (/(?<!\\)(?:\\\\)*\\$/.test(line)) return null;
  for (const text of [line, `${line}"`]) {
    try {
      const word = wordsOf(text).at(-1);
      return word?.end === text.length ? word : null;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
  return null;
}

function isBlank(character: string): boolean {
  return /\s/.test(character);
}

function wordAt(line: string, start: number): Word {
  const units: Unit[] = [];
  let openedAt: number | null = null;
  let position = start;
  while (position < line.length) {
    const text = line[position] ?? '';
    if (text === '"') {
      if (openedAt === null) units.push({ text: '', isLiteral: true, position });
      openedAt = openedAt === null ? position : null;
    } else if (openedAt === null && isBlank(text)) {
      break;
    } else {
      units.push(text === '\\' ? escapedAt(line, position) : { text, isLiteral: openedAt !== null, position });
    }
    position += text === '\\' ? escapeLength(line, position) : 1;
  }
  if (openedAt !== null) throw new Refused(openedAt, 'this quote is never closed; \\" is a quote that is searched');
  return { units, position: start, end: position };
}

const SHOWN = new RegExp(`^[${SHOWN_AS_ESCAPES}]$`, 'u');

/** The character whose escape, as terminals show it, begins there; null where none does. */
function shownAt(line: string, position: number): string | null {
  const [, digits] = /^\\u([\da-f]{4})$/.exec(line.slice(position, position + 6)) ?? [];
  const character = digits === undefined ? '' : String.fromCharCode(Number.parseInt(digits, 16));
  return SHOWN.test(character) ? character : null;
}

/** The length of what a `\` begins in a line. */
export function escapeLength(line: string, position: number): number {
  return shownAt(line, position) === null ? 2 : 6;
}

function escapedAt(line: string, position: number): Unit {
  const shown = shownAt(line, position);
  if (shown !== null) return { text: shown, isLiteral: true, position };
  const text = line[position + 1];
  if (text === undefined) throw new Refused(position, 'nothing follows the \\; \\\\ is one that is searched');
  return { text, isLiteral: true, position };
}

function searchOf(words: readonly Word[]): LineSearch {
  const terms: string[] = [];
  const filters: LineClause[] = [];
  const exclude: LineClause[] = [];
  for (const word of words) {
    const name = filterName(word);
    if (name === null) {
      addTerm(word, terms);
    } else {
      (name.excludes ? exclude : filters).push(clauseOf(name.field, word.units.slice(name.length), word.end));
    }
  }
  return { query: queryOfTerms(terms), filters, exclude };
}

/** Where a filter of a line begins, and each of its values, as indexes in the line. */
export interface LineClausePlace {
  readonly position: number;
  readonly values: readonly number[];
}

/** The places of the clauses of a line without faults, in the order of its search. */
export function searchLinePlaces(line: string): {
  readonly filters: readonly LineClausePlace[];
  readonly exclude: readonly LineClausePlace[];
} {
  const places = { filters: [] as LineClausePlace[], exclude: [] as LineClausePlace[] };
  for (const word of wordsOf(line)) {
    const name = filterName(word);
    if (name === null) continue;
    const units = word.units.slice(name.length);
    const alternatives = alternativesOf(isBare(units[0], '~') ? units.slice(1) : units, word.end);
    places[name.excludes ? 'exclude' : 'filters'].push({ position: word.position, values: alternatives.map(({ start }) => start) });
  }
  return places;
}

const TERM_FAULTS: Readonly<Record<TermFault, string>> = {
  'quote and blank': 'a text with both a quote and a blank cannot be searched; leave one of them out',
  'quotes around': 'a text that begins with a quote and has another one cannot be searched; leave the first one out',
  'second leading quote': 'only one text that begins with a quote can be searched; leave the quote out',
};

function addTerm({ units, position }: Word, terms: string[]): void {
  const term = textOf(units);
  const fault = termFault(term, terms);
  if (fault !== null) throw new Refused(position, TERM_FAULTS[fault]);
  if (term !== '') terms.push(term);
}

/** The characters without quotes and escapes. */
export function textOf(units: readonly Unit[]): string {
  return units.map(({ text }) => text).join('');
}

/** The fields that filters have, by their names in lower case. */
export const FIELD_NAMES: ReadonlyMap<string, Dimension> = new Map(DIMENSIONS.map((name) => [name.toLowerCase(), name]));

/** The field that a word filters by, and the length of what stands before the value; null for free text. */
export function filterName({
  units,
}: Pick<Word, 'units'>): { readonly field: Dimension; readonly excludes: boolean; readonly length: number } | null {
  const colon = units.findIndex(({ text }) => text === ':');
  const before = units.slice(0, colon + 1);
  if (colon === -1 || before.some(({ isLiteral }) => isLiteral)) return null;
  const excludes = before[0]?.text === '-';
  const field = FIELD_NAMES.get(textOf(before.slice(excludes ? 1 : 0, -1)).toLowerCase());
  return field === undefined ? null : { field, excludes, length: colon + 1 };
}

function isBare(unit: Unit | undefined, text: string): boolean {
  return unit !== undefined && !unit.isLiteral && unit.text === text;
}

function clauseOf(field: Dimension, units: readonly Unit[], end: number): LineClause {
  const contains = isBare(units[0], '~');
  const alternatives = alternativesOf(contains ? units.slice(1) : units, end);
  for (const alternative of alternatives) refuseMissing(field, contains, alternative);
  const value = alternatives.map((alternative) => textOf(alternative.units));
  const all = alternatives.flatMap((alternative) => alternative.units);
  const star = all.find((unit) => isBare(unit, '*'));
  if (contains) {
    if (star !== undefined) throw new Refused(star.position, 'a * behind ~ is no wildcard; "*" is one that is searched');
    return { field, op: 'contains', value };
  }
  const range = field === 'ip' ? alternatives.find((alternative) => endsInPrefix(alternative.units)) : undefined;
  if (star === undefined) return { field, op: range !== undefined ? 'cidr' : value.length === 1 ? 'eq' : 'in', value };
  if (range !== undefined) throw new Refused(range.start, 'a range cannot stand beside a wildcard; make them two filters, or quote it');
  const literalStar = all.find(({ text, isLiteral }) => isLiteral && text === '*');
  if (literalStar !== undefined) throw new Refused(literalStar.position, 'a literal * cannot stand beside a wildcard');
  return { field, op: 'wildcard', value };
}

interface LineAlternative {
  readonly units: readonly Unit[];
  readonly start: number;
}

/** The parts between the commas that are not quoted. */
function alternativesOf(units: readonly Unit[], end: number): readonly LineAlternative[] {
  const alternatives: LineAlternative[] = [];
  let from = 0;
  for (let index = 0; index <= units.length; index += 1) {
    if (index === units.length || isBare(units[index], ',')) {
      alternatives.push({ units: units.slice(from, index), start: units[from]?.position ?? end });
      from = index + 1;
    }
  }
  return alternatives;
}

function refuseMissing(field: Dimension, contains: boolean, { units, start }: LineAlternative): void {
  if (isBare(units[0], '~')) throw new Refused(start, 'a ~ stands only once, right behind the colon; "~" is one that is searched');
  if (contains && textOf(units) === '') throw new Refused(start, 'a text is missing here: every value contains the empty one');
  if (units.length === 0) throw new Refused(start, `a value is missing here; ${field}:"" is the empty one`);
}

/** Whether a `/` and digits, none of them quoted, are at the end. */
function endsInPrefix(units: readonly Unit[]): boolean {
  const slash = units.findLastIndex(({ text, isLiteral }) => isLiteral || !/^\d$/.test(text));
  return isBare(units[slash], '/') && slash < units.length - 1;
}

/**
 * The line of a search, which {@link parseSearchLine} reads as the same search; null where no line says it: a clause that no search can
 * have, a wildcard without a star on a field with case, or one with a clause that is none of a line. `in` with one value becomes `eq`.
 */
export function searchLineOf({ query, filters, exclude }: LineSearch): string | null {
  const terms = queryTerms(queryOfTerms(queryTerms(query)));
  const clauses = [...filters.map((clause) => clauseText(clause)), ...exclude.map((clause) => clauseText(clause, '-'))];
  return clauses.includes(null) ? null : [...terms.map(termText), ...clauses].join(' ');
}

function termText(term: string): string {
  const units = [...term].map((text) => ({ text, isLiteral: false, position: 0 }));
  return filterName({ units }) === null ? literal(term) : quoted(term);
}

/** The clause as a word of a line, behind `sign`; null where no line says it. */
export function clauseText({ field, op, value }: LineClause, sign = ''): string | null {
  const before = `${sign}${field}:`;
  if (value.length === 0) return null;
  switch (op) {
    case 'eq':
    case 'in':
      return `${before}${value.map((text) => valueText(field, text)).join(',')}`;
    case 'contains':
      return value.includes('') ? null : `${before}~${value.map((text) => valueText(field, text)).join(',')}`;
    case 'wildcard': {
      if (value.some((text) => text.includes('*'))) return `${before}${value.map((text) => patternText(field, text)).join(',')}`;
      return CASE_IGNORED_FIELDS.has(field) ? clauseText({ field, op: 'in', value }, sign) : null;
    }
    case 'cidr': {
      if (field !== 'ip') return null;
      const isRead = value.some((text) => PREFIX.test(text));
      return `${before}${value.map((text) => rangeText(isRead ? text : `${text}/${text.includes(':') ? 128 : 32}`)).join(',')}`;
    }
    default:
      return op satisfies never;
  }
}

const PREFIX = /\/\d+$/;

/** A value of a field as a filter of a line has it: what is special in it is quoted. */
export function valueText(field: Dimension, text: string): string {
  return text === '' || /[,*]|^~/.test(text) || (field === 'ip' && PREFIX.test(text)) ? quoted(text) : literal(text);
}

/** A wildcard, whose stars stay bare. */
function patternText(field: Dimension, text: string): string {
  if (!text.includes('*')) return valueText(field, text);
  const pieces = text.split('*');
  return pieces.map((piece, index) => patternPiece(field, piece, index === pieces.length - 1)).join('*');
}

function patternPiece(field: Dimension, piece: string, isLast: boolean): string {
  return piece !== '' && (/,|^~/.test(piece) || (isLast && field === 'ip' && PREFIX.test(piece))) ? quoted(piece) : literal(piece);
}

/** A range, whose prefix stays bare. */
function rangeText(text: string): string {
  const slash = text.search(PREFIX);
  return slash === -1 ? valueText('ip', text) : `${slash === 0 ? '' : valueText('ip', text.slice(0, slash))}${text.slice(slash)}`;
}

function literal(text: string): string {
  return /[\s"\\]/.test(text) ? quoted(text) : text;
}

/** The text between quotes, which make all of it plain. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
