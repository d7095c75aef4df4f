import { type AddressRange, maskedNetwork, parseMasked } from './address.ts';
import { canonicalAsn, withoutAsPrefix } from './as-number.ts';
import { readCidr } from './cidr.ts';
import { CASE_IGNORED_FIELDS, DIMENSIONS, type Dimension } from './event-fields.ts';
import {
  clauseText,
  escapeLength,
  FIELD_NAMES,
  filterName,
  type LineClause,
  parseSearchLine,
  quoted,
  textOf,
  type Unit,
  type Word,
  wordsOf,
} from './search-line.ts';

/** What a line says and a person may not have meant. */
export interface LineNote {
  /** The words that it is about, as they stand in the line. */
  readonly words: string;
  /** One sentence for people, with the spelling that may be meant. */
  readonly note: string;
}

/** A word with its place among the others. */
interface PlacedWord extends Word {
  /** As it stands in the line. */
  readonly raw: string;
  /** Nothing in it is quoted or escaped. */
  readonly isBare: boolean;
  readonly isFilter: boolean;
  readonly before: PlacedWord | undefined;
}

/** More would hide the answer. */
const MOST_NOTES = 5;

/**
 * What a line without faults says otherwise than it looks to people who know other search languages, or who pasted a text: at most five
 * notes, in the order of the line. The search stays what the line says. A line with a fault has no notes.
 */
export function searchLineNotes(line: string): readonly LineNote[] {
  const search = parseSearchLine(line);
  if ('fault' in search) return [];
  const words: PlacedWord[] = [];
  for (const word of wordsOf(line)) {
    const isBare = word.units.every(({ isLiteral }) => !isLiteral);
    const raw = line.slice(word.position, word.end);
    words.push({ ...word, raw, isBare, isFilter: filterName(word) !== null, before: words.at(-1) });
  }
  const ofWords = words.flatMap((word, index): LineNote[] => {
    const note = noteOf(word, words[index + 1]);
    return note === null ? [] : [{ words: word.raw, note }];
  });
  return [...ofWords, ...phraseNotes(line), ...contradictions(search.filters, search.exclude)].slice(0, MOST_NOTES);
}

function noteOf(word: PlacedWord, next: PlacedWord | undefined): string | null {
  return (
    (word.isBare && !word.isFilter ? (operatorNote(word, next) ?? equalsNote(word, next) ?? signNote(word)) : null) ??
    (word.isFilter ? (commaNote(word) ?? valueNote(word)) : unknownFieldNote(word)) ??
    vanishedNote(word)
  );
}

/** `AND`, `OR` and `NOT` of other languages. In lower case they are usual words, unless they stand beside a filter. */
function operatorNote({ raw, before }: PlacedWord, next: PlacedWord | undefined): string | null {
  const besideFilter = before?.isFilter === true || next?.isFilter === true;
  if (!/^(AND|OR|NOT|&&|\|\|)$/.test(besideFilter ? raw.toUpperCase() : raw)) return null;
  const isText = `${raw} is searched as a text, which "${raw}" says, too`;
  switch (raw.toUpperCase()) {
    case 'OR':
    case '||':
      return `${isText}; a filter takes several values with commas, such as ${eitherOf(before, next) ?? 'action:blocked,challenged'}`;
    case 'NOT':
      return `${isText}; a - before a filter excludes, such as -${next?.isFilter === true ? next.raw.replace(/^-/, '') : 'country:DE'}`;
    default:
      return `${isText}; all words and filters have to match anyway, so leave it out`;
  }
}

/** Both filters as one, where they are of one field. */
function eitherOf(before: PlacedWord | undefined, next: PlacedWord | undefined): string | null {
  if (before?.isFilter !== true || next?.isFilter !== true) return null;
  const [one, other] = [before, next].map((word) => ({ name: filterName(word), word }));
  if (one?.name?.field !== other?.name?.field || one?.name?.excludes !== other?.name?.excludes) return null;
  const value = next.raw.slice(next.raw.indexOf(':') + 1);
  return spelled(`${before.raw},${value}`);
}

/** Dashes that are no `-`, as editors write them. */
const DASHES = '\u2010-\u2015\u2212\ufe63\uff0d';

/** Signs before a word, which mean something before a filter alone, or in other languages. */
function signNote({ raw }: PlacedWord): string | null {
  const [, sign = '', rest = ''] = new RegExp(`^([!+(${DASHES}]|-(?=[\\p{L}!(]))(.+)$`, 'su').exec(raw) ?? [];
  if (rest === '') return null;
  const bare = rest.replace(/^[-!(]+|\)+$/g, '');
  const isFilter = isSearchedFilter(bare);
  const all = `${raw} is searched as a text, with its ${sign}`;
  if (sign === '+') return isFilter ? `${all}; every filter has to match: ${bare}` : null;
  if (sign === '(') return isFilter ? `${all}; there are no brackets: ${bare} is the filter` : null;
  // A mistyped field has a note of its own.
  if (!isFilter && rest.includes(':')) return null;
  if (isFilter) return `${all}; -${bare} excludes`;
  return `${all}; only a filter excludes, such as -url:~${/^[\p{L}\p{N}_./-]+$/u.test(bare) ? bare : quoted(bare)}`;
}

function isSearchedFilter(word: string): boolean {
  const search = parseSearchLine(word);
  return !('fault' in search) && search.filters.length + search.exclude.length === 1;
}

/** Between field and value stands a `:`, and no blank. */
const OPERATOR = /^(!=|<>|\u2260|==?|=~|~=?|>=?|<=?|[:\uff1a\ufe55\u2236\ua789\uff1d\ufe66])(.*)$/su;
const EXCLUDES = /^(?:!=|<>|\u2260)$/;

function equalsNote(word: PlacedWord, next: PlacedWord | undefined): string | null {
  const [, sign = '', name = '', rest = ''] = /^([!-]?)([A-Za-z0-9]+)(.*)$/s.exec(word.raw) ?? [];
  const [, operator = '', value = ''] = OPERATOR.exec(rest) ?? [];
  if (FIELD_NAMES.has(name.toLowerCase()) && operator !== '') return fieldNote(word.raw, sign, name, operator, value);
  const field = word.before?.isBare === true ? word.before.raw.replace(/^[!-]/, '') : '';
  const [, apart = '', behind = ''] = OPERATOR.exec(word.raw) ?? [];
  if (!FIELD_NAMES.has(field.toLowerCase()) || apart === '') return null;
  const text = behind === '' ? (next?.raw ?? '') : behind;
  const words = `${word.before?.raw} ${word.raw}${behind === '' && text !== '' ? ` ${text}` : ''}`;
  return fieldNote(words, word.before?.raw === field ? '' : '-', field, apart, text);
}

function fieldNote(words: string, sign: string, name: string, operator: string, value: string): string {
  const excludes = (sign !== '') !== EXCLUDES.test(operator) ? '-' : '';
  const means = operator.includes('~') ? ':~' : ':';
  const text = value === '' ? 'VALUE' : value;
  return `${words} is searched as a text; a filter is ${spelled(`${excludes}${name}${means}${text}`) ?? `${excludes}${name}${means}VALUE`}`;
}

/** What a name of a field may look like before a colon, in any script. `http://`, `::1` and `C:\temp` are none. */
const LIKE_FILTER = /^-?([\p{L}\p{Cf}_@][\p{L}\p{M}\p{N}\p{Cf}_@.-]*):(?!\/\/|\\)/u;

/** Of a word that looks like a filter and is searched as a text, unless something before its colon is quoted: then it is meant so. */
function unknownFieldNote({ raw, units }: PlacedWord): string | null {
  const [, name = ''] = LIKE_FILTER.exec(raw) ?? [];
  if (name === '' || FIELD_NAMES.has(name.toLowerCase())) return null;
  // A letter of another script may look like the one that is meant, and some characters like nothing.
  const [foreign] = /[^\0-\x7f]/u.exec(name) ?? [];
  const code = foreign === undefined ? '' : `, with U+${foreign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')} in it`;
  return `${textOf(units)} is searched as a text, because no field is called ${name}${code}; the fields are ${DIMENSIONS.join(', ')}`;
}

/** Of a comma that may be a part of a value, as in the query of a url. */
function commaNote(word: PlacedWord): string | null {
  const name = filterName(word);
  const units = word.units.slice(name?.length ?? 0);
  const commas = units.filter(({ text, isLiteral }) => text === ',' && !isLiteral);
  if (name === null || commas.length === 0) return null;
  const isContained = units[0]?.text === '~' && !units[0].isLiteral;
  const split = splitAt(isContained ? units.slice(1) : units);
  // Each value has quotes of its own.
  if (split.every(([first]) => first?.isLiteral === true && first.text === '')) return null;
  const parts = split.map(textOf);
  if (!looksCut(name.field, isContained, parts)) return null;
  const before = word.raw.slice(0, word.raw.indexOf(':') + 1 + Number(isContained));
  const value = word.raw.slice(before.length);
  const text = hasVanished(value, true) ? value : parts.join(',');
  const one = text.includes('*') ? word.raw.replaceAll(',', '\\,') : `${before}${quoted(text)}`;
  return `the comma in ${word.raw} separates ${parts.length} values; ${spelled(one) ?? '\\,'} is one`;
}

function splitAt(units: readonly Unit[]): readonly Unit[][] {
  const parts: Unit[][] = [[]];
  for (const unit of units) {
    if (unit.text === ',' && !unit.isLiteral) parts.push([]);
    else parts.at(-1)?.push(unit);
  }
  return parts;
}

/** Whether the parts look like pieces of one value: urls that do not begin as one, or brackets that are closed in another part. */
function looksCut(field: Dimension, isContained: boolean, parts: readonly string[]): boolean {
  const opened = (text: string): number =>
    [...text].reduce((open, letter) => open + Number('([{'.includes(letter)) - Number(')]}'.includes(letter)), 0);
  if (parts.some((part) => opened(part) !== 0)) return true;
  // Each user agent has a version, or none of them.
  if (field === 'ua') return !isContained && parts.some((part) => part.includes('/')) && !parts.every((part) => /[/*]/.test(part));
  if (field !== 'url') return false;
  return isContained ? parts.some((part) => /[?&=]/.test(part)) : parts.slice(1).some((part) => !/^([/*?]|[a-z][a-z\d+.-]*:)/i.test(part));
}

/** Of signs in a value that mean something in other languages, and of addresses that are none. Urls and user agents may have any sign. */
function valueNote({ units, raw, isBare }: PlacedWord): string | null {
  const name = filterName({ units });
  if (name === null || !isBare || name.field === 'url' || name.field === 'ua') return null;
  const value = raw.slice(name.length);
  const [, out = ''] = /^(!=?|<>)/.exec(value) ?? [];
  const plain = value.replaceAll(/^(?:[!=([]|<>)+|[)\]]+$/g, '').replaceAll(/\|+/g, ',');
  const meant = plain === value ? null : spelled(`${name.excludes !== (out !== '') ? '-' : ''}${name.field}:${plain}`);
  if (meant !== null) return `${raw} looks for ${value}, with its signs; ${meant} has none of them`;
  // A network that is none is refused, with what is wrong in it.
  const wrong = name.field !== 'ip' || /[*~/]/.test(value) ? undefined : value.split(',').find((text) => 'fault' in readCidr(text));
  return wrong === undefined ? null : `${wrong} is no address; ip:10.0.0.0/8 is a network, and ip:10.0.* a wildcard`;
}

/** Of quotes within a word and of a `\` before a usual letter, which pasted payloads have and a search drops. */
function vanishedNote(word: PlacedWord): string | null {
  if (word.isBare) return null;
  const name = filterName(word);
  const start = name === null ? 0 : word.raw.indexOf(':') + 1 + Number(word.raw[word.raw.indexOf(':') + 1] === '~');
  const value = word.raw.slice(start);
  if (!hasVanished(value, name !== null)) return null;
  const before = word.raw.slice(0, start);
  const hasQuotes = value.includes('"');
  const marks = hasQuotes ? `quotes${value.includes('\\') ? ' and \\' : ''}` : '\\';
  const isLost = `the ${marks} in ${word.raw} ${hasQuotes ? 'are' : 'is'} not searched`;
  const escaped = `${before}${value.replaceAll(/["\\]/g, '\\$&')}`;
  // Some texts with quotes cannot be searched as free text.
  const spellings = [...(/[\s,]/.test(value) ? [] : [escaped]), `${name === null ? 'url:~' : before}${quoted(value)}`];
  const meant = spellings.find((spelling) => spelled(spelling) !== null);
  return meant === undefined ? isLost : `${isLost}; ${meant} has ${hasQuotes ? 'them' : 'it'}`;
}

/** What a `\` is written before on purpose. */
const ESCAPED_ON_PURPOSE = /[\s"\\,*:~/-]/;

function hasVanished(value: string, isFilter: boolean): boolean {
  let isQuoted = false;
  for (let index = 0; index < value.length; index += 1) {
    const [before, letter, next] = [value[index - 1], value[index], value[index + 1]];
    if (letter === '\\') {
      const length = escapeLength(value, index);
      if (length === 2 && next !== undefined && !ESCAPED_ON_PURPOSE.test(next)) return true;
      index += length - 1;
    } else if (letter === '"') {
      if (!isQuoted && before !== undefined && !opensWell(value, index, isFilter)) return true;
      if (isQuoted && next !== undefined && !closesWell(value, index, isFilter)) return true;
      isQuoted = !isQuoted;
    }
  }
  return false;
}

/** Whether a quote behind other letters opens where one who quotes on purpose opens it: before a value, or around blanks alone. */
function opensWell(value: string, at: number, isFilter: boolean): boolean {
  const rest = value.slice(at);
  return /^"\s+"/.test(rest) || (isFilter && /[,*]/.test(value[at - 1] ?? '') && !rest.startsWith('""'));
}

/** Whether a quote closes where one who quotes on purpose closes it: before the next value, a star or a prefix, or behind a name. */
function closesWell(value: string, at: number, isFilter: boolean): boolean {
  const rest = value.slice(at + 1);
  if (isFilter) return /^([,*]|\/\d+(,|$))/.test(rest);
  const opened = value.lastIndexOf('"', at - 1);
  const text = value.slice(opened + 1, at);
  return /^\s*$/.test(text) || (rest.startsWith(':') && FIELD_NAMES.has(text.replace(/^-/, '').toLowerCase()));
}

const SMART_DOUBLE = /[\u201c-\u201f\u00ab\u00bb\u2033\uff02]/;
const SMART_SINGLE = /(?<=^|[\s:,~])[\u2018-\u201b\uff07'](?=\S.*[\u2018-\u201b\uff07'](?:$|[\s,]))/s;

/** Of quotes that are none here: those that editors make of straight ones, and single ones. */
function phraseNotes(line: string): readonly LineNote[] {
  const bare = line.replaceAll(/\\.|"(?:\\.|[^"\\])*"/gs, (part) => ' '.repeat(part.length));
  const found = SMART_DOUBLE.exec(bare)?.[0] ?? SMART_SINGLE.exec(bare)?.[0];
  if (found === undefined) return [];
  const straight = line.replaceAll(
    /[\u201c-\u201f\u00ab\u00bb\u2033\uff02]|(?<=^|[\s:,~])[\u2018-\u201b\uff07']|[\u2018-\u201b\uff07'](?=$|[\s,])/g,
    '"',
  );
  const meant = straight.length > LONGEST_SPELLING ? null : spelled(straight);
  const note = `${found} is searched as a text; straight quotes keep a phrase together`;
  return [{ words: found, note: meant === null ? note : `${note}: ${meant}` }];
}

/** A longer line is not repeated. */
const LONGEST_SPELLING = 200;

/** Of filters that no event fulfils together. */
function contradictions(filters: readonly LineClause[], exclude: readonly LineClause[]): readonly LineNote[] {
  return DIMENSIONS.flatMap((field): LineNote[] => {
    const clauses = filters.filter((clause) => clause.field === field);
    const [first] = clauses;
    const sets = clauses.map(valuesOf);
    const out = exclude.filter((clause) => clause.field === field).map(valuesOf);
    const isNone = (values: Values, others: readonly Values[]): boolean =>
      others.some((other) => values.every((value) => other.every((one) => !overlaps(value, one))));
    if (first === undefined) return [];
    if (sets.some((set, index) => isNone(set, sets.slice(index + 1)))) {
      const words = clauses.map((clause) => clauseText(clause)).join(' ');
      const either = eitherText(field, clauses);
      return [{ words, note: `no event has both of ${words}${either === null ? '' : `; ${either} finds either`}` }];
    }
    const left = sets.find((set) => set.every((value) => out.some((other) => other.some((one) => covers(one, value)))));
    const words = `${clauseText(first)} ${exclude
      .filter((clause) => clause.field === field)
      .map((clause) => clauseText(clause, '-'))
      .join(' ')}`;
    return left === undefined ? [] : [{ words, note: `no event is left by ${words}: what is looked for is excluded` }];
  });
}

/** Null where no one filter finds what either of these does. */
function eitherText(field: Dimension, clauses: readonly LineClause[]): string | null {
  const value = [...new Set(clauses.flatMap((clause) => clause.value))];
  const has = (wanted: LineClause['op']): boolean => clauses.some(({ op }) => op === wanted);
  if (!has('wildcard')) return has('contains') ? null : clauseText({ field, op: has('cidr') ? 'cidr' : 'in', value });
  const hasPlainStar = clauses.some(({ op, value: texts }) => op !== 'wildcard' && texts.some((text) => text.includes('*')));
  return has('contains') || has('cidr') || hasPlainStar ? null : clauseText({ field, op: 'wildcard', value });
}

/** The pieces of a wildcard between its stars, in lower case: it finds texts in any. */
interface Pattern {
  readonly pieces: readonly string[];
}

/** The values that a clause finds: texts as they are compared, wildcards, or ranges of addresses; a masked one is its network. */
type Values = readonly (string | Pattern | (AddressRange & { readonly isMasked?: true }))[];

function valuesOf({ field, op, value }: LineClause): Values {
  const pieces = (text: string): readonly string[] => (field === 'asn' ? withoutAsPrefix(text) : text).toLowerCase().split('*');
  return value.flatMap((text): Values => {
    // A star in it is a star.
    if (op === 'contains') return [{ pieces: ['', pieces(text).join('*'), ''] }];
    if (op === 'wildcard') return [{ pieces: pieces(text) }];
    if (field === 'ip') return addressesOf(text, op);
    if (field === 'asn') return [canonicalAsn(text) ?? text];
    return [CASE_IGNORED_FIELDS.has(field) ? text.toLowerCase() : text];
  });
}

function addressesOf(text: string, op: LineClause['op']): Values {
  const masked = parseMasked(text);
  if (masked !== null) return [{ ...maskedNetwork(masked), isMasked: true }];
  const ranges = op === 'cidr' || !text.includes('/') ? readCidr(text) : { fault: text };
  return 'fault' in ranges ? [text] : ranges;
}

/** Whether a text is found by a wildcard. */
function matches({ pieces }: Pattern, whole: string): boolean {
  const text = whole.toLowerCase();
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

const isPattern = (value: Values[number]): value is Pattern => typeof value !== 'string' && 'pieces' in value;

/** Whether some value may be both. */
function overlaps(one: Values[number], other: Values[number]): boolean {
  if (isPattern(one) && isPattern(other)) {
    const agree = (a = '', b = ''): boolean => a.startsWith(b) || b.startsWith(a);
    const agreeAtEnd = (a = '', b = ''): boolean => a.endsWith(b) || b.endsWith(a);
    return agree(one.pieces[0], other.pieces[0]) && agreeAtEnd(one.pieces.at(-1), other.pieces.at(-1));
  }
  if (isPattern(one)) return typeof other !== 'string' || matches(one, other);
  if (isPattern(other)) return overlaps(other, one);
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.first <= other.last && other.first <= one.last;
}

/** Whether every value that is `inner` is `outer`, as far as that is known. */
function covers(outer: Values[number], inner: Values[number]): boolean {
  if (isPattern(outer)) {
    if (outer.pieces.every((piece) => piece === '')) return true;
    if (isPattern(inner)) return outer.pieces.join('*') === inner.pieces.join('*');
    return typeof inner === 'string' && matches(outer, inner);
  }
  if (isPattern(inner) || typeof outer === 'string' || typeof inner === 'string') return outer === inner;
  return (outer.isMasked !== true || inner.isMasked === true) && outer.first <= inner.first && inner.last <= outer.last;
}

/** A spelling of which a line consists; null where it would be refused. */
function spelled(line: string): string | null {
  return 'fault' in parseSearchLine(line) ? null : line;
}
