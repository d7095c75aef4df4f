import { JsonNumber } from '../../query/json-value.ts';
import { MAX_NESTING } from '../event/json-skipper.ts';
import { decoded, MOST_UNPACKED_BYTES, type UnpackBudget } from './decode-steps.ts';
import type { Condition, MappedValue, Source, TextPart, TextTable } from './mapping.ts';
import { MappingFault, shownText } from './mapping-fault.ts';
import { foundAt, isRecordObject, type RecordPath, scalarText } from './record-path.ts';
import { parseTime } from './record-time.ts';

/** The longest name of a host. */
const LONGEST_DOMAIN = 253;
/** A number of so many digits and signs is written by JavaScript as it was read. */
const EXACT_LENGTH = 15;

/** What a mapping says of one record. */
export class RecordReader {
  readonly #text: string;
  readonly #budget: UnpackBudget = { leftBytes: MOST_UNPACKED_BYTES };
  readonly #isAbsent: (value: unknown) => boolean;
  readonly #timezoneMinutes: number | null;
  #record: unknown;
  #hasAllDigits = false;

  /** `record` is what JSON.parse makes of `text`; the rest is what the mapping says. */
  constructor(text: string, record: unknown, isAbsent: (value: unknown) => boolean, timezoneMinutes: number | null) {
    [this.#text, this.#record, this.#isAbsent, this.#timezoneMinutes] = [text, record, isAbsent, timezoneMinutes];
  }

  /**
   * The text of a value of the mapping, of a time its Unix milliseconds; undefined where it is absent. `member` names it in messages.
   * Throws MappingFault.
   */
  textOf(value: MappedValue, member: string): string | undefined {
    const before = this.#untranslated(value, member);
    const text = before === undefined || value.table === null ? before : (translated(before, value.table) ?? undefined);
    if (text === undefined || value.time.length === 0) {
      return text;
    }
    const timeMs = parseTime(text, value.time, this.#timezoneMinutes);
    if (timeMs === null)
      throw new MappingFault(`${member} is ${shownText(text)}: a time in the form ${value.time.join(' or ')} is required`);
    return String(timeMs);
  }

  /** The same before its table. */
  #untranslated(value: MappedValue, member: string): string | undefined {
    const { source, when, decode, absent, address, letters } = value;
    if (when.length > 0 && !this.holds(when)) {
      return undefined;
    }
    const isAbsent = absent === undefined ? this.#isAbsent : absentBy(absent);
    const found = requireText(this.#sourced(source, member, isAbsent), member);
    const text = found === undefined || decode.length === 0 ? found : this.#decoded(found, decode, member, isAbsent);
    // What is at a path was asked before.
    if (text === undefined || (source.kind !== 'const' && source.kind !== 'path' && isAbsent(text))) {
      return undefined;
    }
    const bare = address ? withoutPort(text) : text;
    return letters === null ? bare : letters === 'lower' ? bare.toLowerCase() : bare.toUpperCase();
  }

  /** What a value was looked up by where its tables have no line for it. */
  lookedUp(value: MappedValue, member: string): string | undefined {
    const { source } = value;
    if (source.kind !== 'first') {
      return this.#untranslated(value, member);
    }
    return source.values.map((one) => this.lookedUp(one, member)).find((text) => text !== undefined);
  }

  /** What is at the path, as JSON has it; undefined where it is absent. */
  at(path: RecordPath, isAbsent: (value: unknown) => boolean = this.#isAbsent): unknown {
    const found = foundAt(this.#record, path.steps, isAbsent);
    if (typeof found !== 'number' || this.#hasAllDigits || hasItsDigits(found)) {
      return found;
    }
    this.#record = withAllDigits(this.#text);
    this.#hasAllDigits = true;
    return foundAt(this.#record, path.steps, isAbsent);
  }

  /** Whether all conditions hold. */
  holds(when: readonly Condition[]): boolean {
    return when.every(({ path, texts }) => {
      const found = this.at(path);
      const text = texts === null ? null : scalarText(found);
      return texts === null ? found !== undefined : text !== null && texts.has(text.toLowerCase());
    });
  }

  #sourced(source: Source, member: string, isAbsent: (value: unknown) => boolean): unknown {
    switch (source.kind) {
      case 'path':
        return this.at(source.path, isAbsent);
      case 'const':
        return source.text;
      case 'first':
        for (const value of source.values) {
          const text = this.textOf(value, member);
          if (text !== undefined) return text;
        }
        return undefined;
      case 'text':
        return this.#composed(source.parts, member, isAbsent);
    }
  }

  #composed(parts: readonly TextPart[], member: string, isAbsent: (value: unknown) => boolean): string | undefined {
    let text = '';
    for (const part of parts) {
      if (part.kind === 'literal') {
        text += part.text;
        continue;
      }
      const value = requireText(this.at(part.path, isAbsent), member);
      if (value === undefined && part.sign === '') return undefined;
      if (value !== undefined) text += value.startsWith(part.sign) ? value : part.sign + value;
    }
    return text;
  }

  /** The first of the decoded texts that is not absent. */
  #decoded(text: string, decode: MappedValue['decode'], member: string, isAbsent: (value: unknown) => boolean): string | undefined {
    const texts = decoded(text, decode, member, this.#budget);
    return requireText(
      texts.find((one) => !isAbsent(one)),
      member,
    );
  }
}

/** Whether JavaScript writes the number as the record does, but for zeros behind the point. */
function hasItsDigits(number: number): boolean {
  return Number.isSafeInteger(number) || (Number.isFinite(number) && String(number).length <= EXACT_LENGTH);
}

/** Throws MappingFault for an object or a list. */
function requireText(value: unknown, member: string): string | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const text = scalarText(value);
  if (text === null) {
    const shown = Array.isArray(value) ? `a list of ${value.length}` : `an object with ${shownText(Object.keys(value)[0] ?? '')}`;
    throw new MappingFault(`${member} is ${shown}: a text, a number, true or false is required`);
  }
  return text;
}

/** What is absent where these texts, in lower case, are. So are null, an empty list and an empty object. */
export function absentBy(texts: ReadonlySet<string>): (value: unknown) => boolean {
  const longest = Math.max(0, ...[...texts].map(({ length }) => length));
  const isText = (text: string): boolean => text.length <= longest && texts.has(text.toLowerCase());
  return (value) => {
    if (typeof value === 'string') return isText(value);
    if (value === null || value === undefined) return true;
    if (Array.isArray(value)) return value.length === 0;
    return isRecordObject(value) ? Object.keys(value).length === 0 : isText(scalarText(value) ?? '');
  };
}

/** Null where the table has no line for the text, or says that it stands for nothing. */
function translated(text: string, { texts, domains, rest = null }: TextTable): string | null {
  const folded = text.toLowerCase();
  const found = texts.get(folded);
  if (found !== undefined) {
    return found;
  }
  for (let at = domains.size > 0 && folded.length <= LONGEST_DOMAIN ? folded.indexOf('.') : -1; at >= 0; at = folded.indexOf('.', at + 1)) {
    const ofDomain = at > 0 ? domains.get(folded.slice(at)) : undefined;
    if (ofDomain !== undefined) return ofDomain;
  }
  return rest;
}

/** `192.0.2.7:9989`, `[2001:db8::7]:443`, also a name of a host; an address in brackets loses these. */
function withoutPort(text: string): string {
  if (!text.includes(':') && !text.startsWith('[')) {
    return text;
  }
  const [, inBrackets, bare] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([^:]+):\d{1,5})$/.exec(text) ?? [];
  return inBrackets ?? bare ?? text;
}

/** The record with each number as its text. Throws MappingFault where it nests too deep for that, which no event may. */
function withAllDigits(text: string): unknown {
  if (nestsTooDeep(text)) {
    throw new MappingFault(`the record nests deeper than ${MAX_NESTING} levels`);
  }
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new JsonNumber(context?.source ?? String(value)) : value,
  );
}

/** JSON.parse with a reviver overflows the stack on some thousand levels. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (const [mark] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs)) {
    if (mark === '[' || mark === '{') depth += 1;
    else if (mark === ']' || mark === '}') depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}
