/** A number as its source text, so that no digit is lost. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

const NUMBER_PARTS = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** Digits of a number between the zeros around them; an int64 has 19. */
const MAX_DIGITS = 100;

/** Zeros that an exponent may add, so that `1e999999999` is not computed. */
const MAX_ZEROS = 40;

/**
 * The integer that the source text of a JSON number stands for: `1.0` and `1e3` are the integers 1 and 1000, as in JSON Schema. Null if it
 * has a fraction (`1.5`, `1e-1`) or is far outside 64 bits.
 */
export function exactInteger(source: string): bigint | null {
  const parts = NUMBER_PARTS.exec(source);
  if (parts === null) {
    return null;
  }
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = `${whole}${fraction}`;
  // A pattern for the zeros at the end takes the square of the length.
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === '0') start++;
  while (start < end && digits[end - 1] === '0') end--;
  if (start === end) {
    return 0n;
  }
  const zeros = digits.length - end - fraction.length + Number(exponent);
  if (zeros < 0 || zeros > MAX_ZEROS || end - start > MAX_DIGITS) {
    return null;
  }
  const magnitude = BigInt(digits.slice(start, end)) * 10n ** BigInt(zeros);
  return sign === '-' ? -magnitude : magnitude;
}
