import { LARGEST_REST_BYTES, tooLongRest } from '../event/event-verdict.ts';
import { decoded } from './decode-steps.ts';
import type { Condition, MappedValue, Mapping, Source, TextPart, TextTable } from './mapping.ts';
import { MappingFault, shownText } from './mapping-fault.ts';
import type { ParsedRecord, ValueReading } from './parsed-record.ts';
import { comparedText, foldedIn, isRecordObject, pathFinder, type RecordPath, scalarText } from './record-path.ts';
import { parseTime, TIME_EXAMPLES } from './record-time.ts';

/** The longest name of a host. */
const LONGEST_DOMAIN = 253;

/** The text of a value in a record, of a time its Unix milliseconds; undefined where it is absent. Throws MappingFault. */
export type TextIn = (record: ParsedRecord) => string | undefined;

type IsAbsent = ValueReading['isAbsent'];

/** Where a value stands: `member` names it in messages. */
interface Place extends ValueReading {
  readonly member: string;
}

/** Makes functions of the values of a mapping, once, so that a record costs what it is asked for alone. */
export class ValueCompiler {
  readonly #isAbsent: IsAbsent;
  readonly #timezoneMinutes: number | null;

  constructor({ absent, timezoneMinutes }: Mapping) {
    [this.#isAbsent, this.#timezoneMinutes] = [absentBy(absent), timezoneMinutes];
  }

  /** `member` names the value in messages. With `isCompared`, a number counts by its value and not by how it is written. */
  textOf(value: MappedValue, member: string, isCompared = false): TextIn {
    const { table, time } = value;
    const untranslated = this.#untranslated(value, member, isCompared || table !== null || time.length > 0);
    const text = table === null ? untranslated : changed(untranslated, (found) => translated(found, table) ?? undefined);
    return time.length === 0
      ? text
      : changed(text, (found) => {
          const timeMs = parseTime(found, time, this.#timezoneMinutes);
          if (timeMs !== null) return String(timeMs);
          const forms = time.map((form) => `${form} (${TIME_EXAMPLES[form]})`).join(' or ');
          throw new MappingFault(`${member} is ${shownText(found)}: a time in the form ${forms} is required`);
        });
  }

  /** What a value is looked up by where its tables have no line for it. */
  lookedUp(value: MappedValue, member: string): TextIn {
    const { source } = value;
    return source.kind === 'first'
      ? firstOf(source.values.map((one) => this.lookedUp(one, member)))
      : this.#untranslated(value, member, true);
  }

  /** Whether all conditions hold. */
  holds(when: readonly Condition[]): (record: ParsedRecord) => boolean {
    const reading = { isAbsent: this.#isAbsent, isCompared: true };
    const all = when.map(({ path, texts }) => {
      const find = pathFinder(path.steps, this.#isAbsent);
      const isIn = texts === null ? null : foldedIn(texts);
      return (record: ParsedRecord): boolean => {
        const found = record.at(find, reading);
        if (isIn === null) return found !== undefined;
        const text = comparedText(found);
        return text !== null && isIn(text);
      };
    });
    return (record) => all.every((holds) => holds(record));
  }

  /** The same as `textOf` before its table. */
  #untranslated({ source, when, decode, absent, address, letters }: MappedValue, member: string, isCompared: boolean): TextIn {
    const place = { member, isCompared, isAbsent: absent === undefined ? this.#isAbsent : absentBy(absent) };
    let text = this.#sourced(source, place);
    if (decode.length > 0) {
      // The first of the decoded texts that is not absent.
      text = changed(text, (found, { budget }) => {
        const texts = decoded(found, decode, member, budget);
        return requireText(
          texts.find((one) => !place.isAbsent(one)),
          place,
        );
      });
    } else if (source.kind === 'first' || source.kind === 'text') {
      // What is at a path was asked before.
      text = changed(text, (found) => (place.isAbsent(found) ? undefined : found));
    }
    if (address) text = changed(text, withoutPort);
    if (letters === 'lower') text = changed(text, (found) => found.toLowerCase());
    if (letters === 'upper') text = changed(text, (found) => found.toUpperCase());
    if (when.length === 0) {
      return text;
    }
    const [holds, ofHeld] = [this.holds(when), text];
    return (record) => (holds(record) ? ofHeld(record) : undefined);
  }

  #sourced(source: Source, place: Place): TextIn {
    switch (source.kind) {
      case 'path':
        return textAt(source.path, place);
      case 'const':
        return () => source.text;
      case 'first':
        return firstOf(source.values.map((value) => this.textOf(value, place.member, place.isCompared)));
      case 'text':
        return composed(source.parts, place);
    }
  }
}

function textAt(path: RecordPath, place: Place): TextIn {
  const find = pathFinder(path.steps, place.isAbsent);
  return (record) => {
    const found = record.at(find, place);
    return typeof found === 'string' ? found : requireText(found, place);
  };
}

function firstOf(texts: readonly TextIn[]): TextIn {
  return (record) => {
    for (const textIn of texts) {
      const text = textIn(record);
      if (text !== undefined) return text;
    }
    return undefined;
  };
}

function composed(parts: readonly TextPart[], place: Place): TextIn {
  const pieces = parts.map((part) =>
    part.kind === 'literal' ? { sign: '', textIn: () => part.text } : { sign: part.sign, textIn: textAt(part.path, place) },
  );
  return (record) => {
    let text = '';
    for (const { sign, textIn } of pieces) {
      const piece = textIn(record);
      if (piece === undefined && sign === '') return undefined;
      if (piece !== undefined) text += piece.startsWith(sign) ? piece : sign + piece;
      if (text.length > LARGEST_REST_BYTES) throw new MappingFault(`${place.member} is too long: ${tooLongRest(text.length)}`);
    }
    return text;
  };
}

/** A text with a change that is made where it is not absent. */
function changed(textIn: TextIn, change: (text: string, record: ParsedRecord) => string | undefined): TextIn {
  return (record) => {
    const text = textIn(record);
    return text === undefined ? undefined : change(text, record);
  };
}

/** Throws MappingFault for an object or a list. */
function requireText(value: unknown, { member, isCompared }: Place): string | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const text = isCompared ? comparedText(value) : scalarText(value);
  if (text === null) {
    const shown = Array.isArray(value) ? `a list of ${value.length}` : `an object with ${shownText(Object.keys(value)[0] ?? '')}`;
    throw new MappingFault(`${member} is ${shown}: a text, a number, true or false is required`);
  }
  return text;
}

/** What is absent where these texts, in lower case, are. So are null, an empty list and an empty object. */
function absentBy(texts: ReadonlySet<string>): IsAbsent {
  const isText = foldedIn(texts);
  return (value) => {
    if (typeof value === 'string') return isText(value);
    if (value === null || value === undefined) return true;
    if (Array.isArray(value)) return value.length === 0;
    return isRecordObject(value) ? Object.keys(value).length === 0 : isText(comparedText(value) ?? '');
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
