import { maskedNetwork } from '../address.ts';
import { readCidr } from '../cidr.ts';
import { DIMENSIONS, type Dimension, type SearchedField } from '../event-fields.ts';
import { compileMatcher, type MatchSubject, matchSubject } from '../match/match-event.ts';
import type { Predicate } from '../plan/search-plan.ts';
import {
  clauseText,
  escapeLength,
  FIELD_NAMES,
  filterName,
  type LineClause,
  type LineSearch,
  parseSearchLine,
  quoted,
  textOf,
  type Word,
  wordsOf,
} from '../search-line.ts';
import { addressFilter, addressList, addressNote, defangedNote, portNote, spelled } from './address-notes.ts';
import type { FilterClause } from './filter-clauses.ts';
import { ErrorList } from './request-errors.ts';
import { filterPredicate } from './request-predicate.ts';
import { refuseCostly } from './search-costs.ts';

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
 * notes, in the order of the line. The search stays what the line says. A line with a fault has no notes. `total` is the number of events
 * that it finds, where that is known: with 0 there are notes of words that may be meant otherwise, too.
 */
export function searchLineNotes(line: string, total?: number): readonly LineNote[] {
  const search = parseSearchLine(line);
  if ('fault' in search) return [];
  const words: PlacedWord[] = [];
  for (const word of wordsOf(line)) {
    const isBare = word.units.every(({ isLiteral }) => !isLiteral);
    const raw = line.slice(word.position, word.end);
    words.push({ ...word, raw, isBare, isFilter: filterName(word) !== null, before: words.at(-1) });
  }
  const list = addressList(words);
  const listed = words.find(({ raw }) => raw === list?.words[0]);
  const ofWords = words.flatMap((word, index): LineNote[] => {
    if (list?.words.includes(word.raw)) return word === listed ? [{ words: list.words.join(' '), note: list.note }] : [];
    const note = noteOf(word, words[index + 1]) ?? (total === 0 ? nothingFoundNote(word) : null);
    return note === null ? [] : [{ words: word.raw, note }];
  });
  return [...ofWords, ...phraseNotes(line), ...contradictions(search)].slice(0, MOST_NOTES);
}

function noteOf(word: PlacedWord, next: PlacedWord | undefined): string | null {
  if (word.isFilter) return defangedNote(word) ?? invisibleNote(word) ?? valueNote(word) ?? vanishedNote(word);
  const ofText = addressNote(word) ?? defangedNote(word) ?? invisibleAddressNote(word) ?? unknownFieldNote(word) ?? invisibleNote(word);
  return ofText ?? (word.isBare ? (operatorNote(word, next) ?? equalsNote(word, next) ?? signNote(word)) : null) ?? vanishedNote(word);
}

const UNSEEN = '\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}';
/** Joiners, selectors and tags, which emoji and many scripts need behind a character of theirs. */
const JOINERS = '[\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0020}-\\u{e007f}]';
const INVISIBLE = new RegExp(`(?<![^\\0-\\u02ff${UNSEEN}]${JOINERS}*)${JOINERS}|(?!\\s|${JOINERS})[${UNSEEN}]`, 'gu');

/** Of an address with such a character, which looks like a filter where it has colons. */
function invisibleAddressNote(word: PlacedWord): string | null {
  return addressFilter(word.raw.replaceAll(INVISIBLE, '')) === null ? null : invisibleNote(word);
}

function invisibleNote({ raw, isFilter }: PlacedWord): string | null {
  const [found] = raw.match(INVISIBLE) ?? [];
  if (found === undefined) return null;
  const visible = raw.replaceAll(INVISIBLE, '');
  const meant = (isFilter ? null : addressFilter(visible)) ?? spelled(visible);
  return `${raw} has the invisible character ${codeOf(found)} in it${meant === null || meant === '' ? '' : `; ${meant} has not`}`;
}

const codeOf = (character: string): string => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** Values that are usual in fields at which the free text does not look. */
const USUAL: readonly (readonly [field: Dimension, values: RegExp])[] = [
  ['action', /^(blocked|challenged|logged|allowed)$/i],
  ['feature', /^(waf|bot-detection|access-list|rate-limit|ddos|upload-scanning|api-guardian)$/i],
  ['asn', /^as\d+$/i],
];

/** Of a word that may be why nothing is found. */
function nothingFoundNote(word: PlacedWord): string | null {
  const { raw, isBare, isFilter } = word;
  const encoded = encodedNote(word);
  if (encoded !== null) return encoded;
  if (isFilter) {
    const search = parseSearchLine(raw);
    const filters = 'fault' in search ? [] : search.filters;
    const [clause] = filters.filter(({ field, op }) => /^(ua|url)$/.test(field) && /^(eq|in)$/.test(op));
    const meant = clause === undefined ? null : clauseText({ ...clause, op: 'contains' });
    return meant === null ? null : `${raw} finds whole values alone; ${meant} finds those that contain it`;
  }
  const [field] = USUAL.find(([, values]) => isBare && values.test(raw)) ?? [];
  return field === undefined ? null : `${raw} is searched as a text, which is not looked for in ${field}; ${field}:${raw} is`;
}

/** Of letters that browsers write into urls as the numbers of their bytes. */
function encodedNote({ raw, units }: PlacedWord): string | null {
  const name = filterName({ units });
  const isSearched = name === null || (name.field === 'url' && !name.excludes);
  if (!isSearched || !raw.isWellFormed() || !/(?![\0-\x7f])\p{L}/u.test(raw)) return null;
  const meant = spelled(raw.replaceAll(/[^\0-\x7f]+/gu, encodeURIComponent));
  return meant === null ? null : `${raw} may stand in a url as ${meant}`;
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
  const search = parseSearchLine(bare);
  const isFilter = !('fault' in search) && search.filters.length + search.exclude.length === 1;
  const all = `${raw} is searched as a text, with its ${sign}`;
  if (sign === '+') return isFilter ? `${all}; every filter has to match: ${bare}` : null;
  if (sign === '(') return isFilter ? `${all}; there are no brackets: ${bare} is the filter` : null;
  // A mistyped field has a note of its own.
  if (!isFilter && rest.includes(':')) return null;
  if (isFilter) return `${all}; -${bare} excludes`;
  return `${all}; only a filter excludes, such as -url:~${/^[\p{L}\p{N}_./-]+$/u.test(bare) ? bare : quoted(bare)}`;
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
  if (/^rule[._]?name$/i.test(name)) return ruleNameNote(textOf(units));
  // A letter of another script may look like the one that is meant, and some characters like nothing.
  const [foreign] = /[^\0-\x7f]/u.exec(name) ?? [];
  const code = foreign === undefined ? '' : `, with ${codeOf(foreign)} in it`;
  return `${textOf(units)} is searched as a text, because no field is called ${name}${code}; the fields are ${DIMENSIONS.join(', ')}`;
}

/** Rule names are searched by the free text alone. */
function ruleNameNote(text: string): string {
  const name = text.slice(text.indexOf(':') + 1).replaceAll(/^[~*]+|\*+$/g, '');
  const meant = name === '' || text.startsWith('-') ? null : spelled(/[\s"\\:]/.test(name) ? quoted(name) : name);
  const isText = `${text} is searched as a text, because ruleName is no filter`;
  return meant === null ? `${isText}; words find rule names, and ruleId is a filter` : `${isText}; ${meant} finds it in rule names, too`;
}

/** Of signs in a value that mean something in other languages, and of addresses that are none. Urls and user agents may have any sign. */
function valueNote({ units, raw, isBare }: PlacedWord): string | null {
  const name = filterName({ units });
  if (name === null || !isBare || name.field === 'url' || name.field === 'ua') return null;
  const value = raw.slice(name.length);
  const port = portNote(raw, { field: name.field, value: value.split(',') });
  if (port !== null) return port;
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
  // A longer line is not repeated.
  const meant = straight.length > 200 ? null : spelled(straight);
  const note = `${found} is searched as a text; straight quotes keep a phrase together`;
  return [{ words: found, note: meant === null ? note : `${note}: ${meant}` }];
}

/** Of filters that no event fulfils together. A search that is refused has none: to try all that it may have would take minutes. */
function contradictions({ filters, exclude }: LineSearch): readonly LineNote[] {
  const costly = new ErrorList();
  refuseCostly([{ path: '', clauses: [...filters, ...exclude].map(asClause) }], costly);
  if (!costly.isEmpty) return [];
  return DIMENSIONS.flatMap((field): LineNote[] => {
    const clauses = filters.filter((clause) => clause.field === field);
    const [first] = clauses;
    if (first === undefined) return [];
    // Of a clause that finds none of its own events nothing is known.
    const tried = clauses.map(triedClause).filter(({ matches, events }) => events.some(matches));
    if (tried.some((one, index) => tried.slice(index + 1).some((other) => isNoneOfBoth(field, one, other)))) {
      const words = clauses.map((clause) => clauseText(clause)).join(' ');
      const either = eitherText(field, clauses);
      return [{ words, note: `no event has both of ${words}${either === null ? '' : `; ${either} finds either`}` }];
    }
    const excluding = exclude.filter((clause) => clause.field === field);
    const out = excluding.map(triedClause);
    const words = [clauseText(first), ...excluding.map((clause) => clauseText(clause, '-'))].join(' ');
    const isLeftOut = ({ matches, events }: TriedClause): boolean =>
      [...events, ...out.flatMap((clause) => clause.events)].filter(matches).every((event) => out.some((clause) => clause.matches(event)));
    return tried.some(isLeftOut) ? [{ words, note: `no event is left by ${words}: what is looked for is excluded` }] : [];
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

/** A clause with events by which others are tried: if some event fulfils both, one of these or of two of them joined does. */
type TriedClause = ReturnType<typeof triedClause>;

function triedClause(clause: LineClause) {
  const predicate = filterPredicate(asClause(clause), new ErrorList());
  return { matches: compileMatcher(predicate).matches, events: eventsOf(predicate) };
}

function asClause({ field, op, value }: LineClause): FilterClause {
  return { path: '', field, op, alternatives: value.map((text) => ({ path: '', text })) };
}

function eventsOf(predicate: Predicate): readonly MatchSubject[] {
  switch (predicate.kind) {
    case 'any':
    case 'all':
      return predicate.of.flatMap(eventsOf);
    case 'equals':
      return predicate.values.map((text) => eventWith(predicate.column, [text]));
    case 'contains':
      return [eventWith(predicate.column, ['', predicate.needle, ''])];
    case 'wildcard':
      return [eventWith(predicate.column, predicate.parts)];
    case 'addressIn':
      // What several ranges have, and leave, begins where one of them begins, or behind its end.
      return predicate.ranges.flatMap(({ first, last }) => [first, last + 1n].flatMap(addressed));
    case 'not':
    case 'everything':
      return [];
    default:
      return predicate satisfies never;
  }
}

/** What a star stands for in an event. No clause has it, so a wildcard that finds the event finds whatever the star stands for. */
const ANYTHING = '\uffff';

/** An event with these parts of a text between its stars. Nothing tells how an address is spelled. */
function eventWith(field: SearchedField, parts: readonly string[], address: bigint | null = null): MatchSubject {
  const event = matchSubject({ [field]: parts.join(ANYTHING) });
  return address === null ? event : { ...event, address: () => address };
}

/** Events with an address: one with any text and, where it is the first of its network, the masked one, which ends with a star. */
function addressed(address: bigint): readonly MatchSubject[] {
  const isFirst = maskedNetwork(address).first === address;
  return (isFirst ? ['', '*'] : ['']).map((end) => eventWith('ip', ['', end], address));
}

function isNoneOfBoth(field: Dimension, one: TriedClause, other: TriedClause): boolean {
  const isOfBoth = (event: MatchSubject): boolean => one.matches(event) && other.matches(event);
  if ([...one.events, ...other.events].some(isOfBoth)) return false;
  const partsOf = (event: MatchSubject): readonly string[] => event.text(field)?.split(ANYTHING) ?? [];
  const [ofOne = [], ofOther = []] = [one, other].map(({ events }) => events.filter((event) => partsOf(event).length > 1));
  const longer = (a = '', b = ''): string => (a.length > b.length ? a : b);
  const areJoined = (first: MatchSubject, second: MatchSubject): boolean => {
    // Addresses were tried above.
    if (first.address() !== null && second.address() !== null) return false;
    const [a, b] = [partsOf(first), partsOf(second)];
    const parts = [longer(a[0], b[0]), ...a.slice(1, -1), ...b.slice(1, -1), longer(a.at(-1), b.at(-1))];
    return isOfBoth(eventWith(field, parts, first.address() ?? second.address()));
  };
  return !ofOne.some((first) => ofOther.some((second) => areJoined(first, second)));
}
