const PARTS = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** Longer texts of numbers are not looked at; an int64 has 20 characters. */
const LONGEST_SOURCE = 100;

/** Zeros that an exponent may add; `1e999999999` is never computed. */
const MAX_ZEROS = 40;

/**
 * The integer that a JSON number stands for, judged by its digits: `1.0` and `1e3` are the integers 1 and 1000 (as in JSON Schema).
 * Null where it has a fraction (`1.5`, `1e-1`) or is far outside 64 bits.
 */
export function exactInteger(source: string): bigint | null {
  const parts = source.length > LONGEST_SOURCE ? null : PARTS.exec(source);
  if (parts === null) {
    return null;
  }
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = `${whole}${fraction}`;
  const significant = digits.replace(/0+$/, '');
  if (/^0*$/.test(significant)) {
    return 0n;
  }
  const zeros = digits.length - significant.length - fraction.length + Number(exponent);
  if (zeros < 0 || zeros > MAX_ZEROS) {
    return null;
  }
  const magnitude = BigInt(significant) * 10n ** BigInt(zeros);
  return sign === '-' ? -magnitude : magnitude;
}
