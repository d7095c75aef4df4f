import { JsonNumber } from '../../query/json-value.ts';
import { MAX_NESTING } from '../event/json-skipper.ts';
import { MOST_UNPACKED_BYTES, type UnpackBudget } from './decode-steps.ts';
import { EXACT_LENGTH, hasItsDigits, type PathFinder } from './record-path.ts';

/** A number that JavaScript may write otherwise: with zeros at its end, many digits behind its point, an exponent, or a negative zero. */
const WRITTEN_OTHERWISE = /[:[,]\s*(-0|-?\d+\.(?:\d*0|\d{15,})|-?[\d.]+[eE][+-]?\d+)(?=\s*[,\]}])/g;
/** A whole number is looked for in so many places of a text at most. */
const MOST_PLACES = 10;
/** A whole number between the signs that stand around a value. */
const WHOLE = /(?<=[:[,\s])-?\d+(?=\s*[,\]}])/y;

/** How a value is read. */
export interface ValueReading {
  readonly isAbsent: (value: unknown) => boolean;
  /** Whether a number is only compared, so that `2.0` is `2`. */
  readonly isCompared: boolean;
}

/** A record while a mapping looks at it. */
export class ParsedRecord {
  /** What `decode` may still unpack of it. */
  readonly budget: UnpackBudget = { leftBytes: MOST_UNPACKED_BYTES };
  readonly #text: string;
  #value: unknown;
  #hasAllDigits = false;
  #writtenOtherwise: ReadonlySet<number> | undefined;

  /** `value` is what JSON.parse makes of `text`. */
  constructor(text: string, value: unknown) {
    [this.#text, this.#value] = [text, value];
  }

  /**
   * What is at a path. A number that JavaScript would write with other digits is a JsonNumber; so is one that it would write otherwise,
   * such as `2.0`, unless it is only compared.
   */
  at(find: PathFinder, { isAbsent, isCompared }: ValueReading): unknown {
    const found = find(this.#value);
    if (typeof found !== 'number' || this.#hasAllDigits || (hasItsDigits(found) && (isCompared || !this.#mayBeWrittenOtherwise(found)))) {
      return found;
    }
    const number = this.#onlyOne(found);
    if (number !== null && !isAbsent(number)) {
      return number;
    }
    this.#hasAllDigits = true;
    // The intake refuses what nests too deep.
    if (!nestsTooDeep(this.#text)) this.#value = withAllDigits(this.#text);
    return find(this.#value);
  }

  #mayBeWrittenOtherwise(number: number): boolean {
    this.#writtenOtherwise ??= new Set([...this.#text.matchAll(WRITTEN_OTHERWISE)].map(([, written]) => Number(written)));
    return this.#writtenOtherwise.has(number);
  }

  /**
   * A whole number of which the text has one way of writing, such as a time in nanoseconds; null where it may have another, or is there
   * often. Parsing the record again takes ten times as long.
   */
  #onlyOne(number: number): JsonNumber | null {
    const start = String(number).slice(0, EXACT_LENGTH);
    let found: string | null = null;
    let at = this.#text.indexOf(start);
    for (let times = 0; at >= 0; times++) {
      WHOLE.lastIndex = at;
      const [digits] = WHOLE.exec(this.#text) ?? [];
      const isOther = found !== null && digits !== undefined && digits !== found;
      if (isOther || times === MOST_PLACES) return null;
      found = digits ?? found;
      at = this.#text.indexOf(start, at + 1);
    }
    return found !== null && Number(found) === number && !this.#mayBeWrittenOtherwise(number) ? new JsonNumber(found) : null;
  }
}

/** The record with each number as its text. */
function withAllDigits(text: string): unknown {
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
