import { JsonNumber } from '../../query/json-value.ts';
import { MAX_NESTING } from '../event/json-skipper.ts';
import { MOST_UNPACKED_BYTES, type UnpackBudget } from './decode-steps.ts';
import { hasItsDigits, type PathFinder } from './record-path.ts';

/** A number that JavaScript may write otherwise: with zeros at its end, many digits behind its point, an exponent, or a negative zero. */
const WRITTEN_OTHERWISE = /[:[,]\s*(?:-0|-?\d+\.(?:\d*0|\d{15,})|-?[\d.]+[eE][+-]?\d+)\s*[,\]}]/;

/** A record while a mapping looks at it. */
export class ParsedRecord {
  /** What `decode` may still unpack of it. */
  readonly budget: UnpackBudget = { leftBytes: MOST_UNPACKED_BYTES };
  readonly #text: string;
  #value: unknown;
  #hasAllDigits = false;
  #hasOtherNumbers: boolean | undefined;

  /** `value` is what JSON.parse makes of `text`. */
  constructor(text: string, value: unknown) {
    [this.#text, this.#value] = [text, value];
  }

  /**
   * What is at a path. A number that JavaScript would write with other digits is a JsonNumber; so is one that it would write otherwise,
   * such as `2.0`, unless it is only compared.
   */
  at(find: PathFinder, isCompared: boolean): unknown {
    const found = find(this.#value);
    if (typeof found !== 'number' || this.#hasAllDigits || (hasItsDigits(found) && (isCompared || !this.#mayBeWrittenOtherwise()))) {
      return found;
    }
    this.#hasAllDigits = true;
    // The intake refuses what nests too deep.
    if (!nestsTooDeep(this.#text)) this.#value = withAllDigits(this.#text);
    return find(this.#value);
  }

  #mayBeWrittenOtherwise(): boolean {
    this.#hasOtherNumbers ??= WRITTEN_OTHERWISE.test(this.#text);
    return this.#hasOtherNumbers;
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
